"""The picture of a judged sensitivity: limits and worst posteriors of the values with the worst margins."""

from __future__ import annotations

import numpy as np

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.requirements.sensitivities.judgement import PosteriorJudgement
from ppdm_flow.requirements.sensitivities.observed import LEVEL, ObservedHits
from ppdm_flow.sdk.audit import AuditContext

TOP = 20


def charts_of(judged: PosteriorJudgement, ctx: AuditContext) -> tuple[Chart, ...]:
    """Return the worst posteriors, and those counted over pairs where there are any."""
    worst = _worst(judged, ctx)
    return (worst,) if judged.observed is None else (worst, _counted(judged, judged.observed, ctx))


def _worst(judged: PosteriorJudgement, ctx: AuditContext) -> Chart:
    """Return bars for at most twenty bounded values, the worst first."""
    chosen = _closest(judged)
    values = judged.bounds.values
    attribute = source_of(judged.column, ctx)
    series = (
        ("r2, the limit above", judged.bounds.r2),
        ("highest posterior from r1", judged.posteriors.upward),
        ("r1, the limit below", judged.bounds.r1),
        ("lowest posterior from r2", judged.posteriors.downward),
    )
    return Chart(
        id=f"{judged.requirement.id}.{judged.column}.posteriors",
        title=f"What can be learned of {judged.column}",
        kind="bars",
        x=tuple(ctx.label(attribute, judged.domain[values[i]], int(values[i]) + 1) for i in chosen),
        series=tuple(FigureSeries(name, tuple(float(figures[i]) for i in chosen)) for name, figures in series),
        x_label="value",
        y_label="probability",
        note="worst case over all prior beliefs; at most twenty values, those closest to their limits first",
        group=judged.requirement.id,
    )


def _counted(judged: PosteriorJudgement, observed: ObservedHits, ctx: AuditContext) -> Chart:
    """Return measured beside predicted posteriors, with intervals; the highest predicted first."""
    order = np.argsort(-observed.predicted, kind="stable")
    chosen = [i for i in order.tolist() if observed.trials[i] > 0][:TOP]
    attribute = source_of(judged.column, ctx)
    low, high = (tuple(float(end[i]) for i in chosen) for end in (observed.low, observed.high))
    places = [int(observed.values[i]) for i in chosen]
    return Chart(
        id=f"{judged.requirement.id}.{judged.column}.counted",
        title=f"What the rows tell of {judged.column}",
        kind="bars",
        x=tuple(ctx.label(attribute, judged.domain[p], p + 1) for p in places),
        series=(
            FigureSeries("counted over the rows", tuple(float(observed.share[i]) for i in chosen), low, high),
            FigureSeries("predicted by the operator", tuple(float(observed.predicted[i]) for i in chosen)),
        ),
        x_label="value",
        y_label="probability",
        note=f"share of the rows released as the value that tells most of it; {LEVEL:.0%} intervals for all together",
        group=judged.requirement.id,
    )


def _closest(judged: PosteriorJudgement) -> list[int]:
    """Return the row of each value's worst bound, the worst value first."""
    first: dict[int, int] = {}
    for row in np.argsort(-judged.margins, kind="stable").tolist():
        if judged.bounds.judged[row]:
            first.setdefault(int(judged.bounds.values[row]), row)
        if len(first) == TOP:
            break
    return list(first.values())
