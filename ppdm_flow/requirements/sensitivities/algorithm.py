"""The (r1, r2) bounds of sensitive values: worst posteriors from the operator, and the bytes held against it.

An upward breach: a prior of at most r1 becomes a posterior above r2. A downward breach: a prior of at least r2 becomes
a posterior below r1 (Evfimievski, Gehrke, Srikant 2003, definition 2). Both worst cases follow exactly from the
operator, whatever the prior is; Chaytor and Wang's Theorem 1 covers the first only. That the released bytes come from
that operator is tested at an error probability of one in a million.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.mining.exposure.columns import carriers, facts_of
from ppdm_flow.requirements.sensitivities.figures import figures_of
from ppdm_flow.requirements.sensitivities.findings import findings, no_operator
from ppdm_flow.requirements.sensitivities.fit.bytes_check import ERROR
from ppdm_flow.requirements.sensitivities.judgement import PosteriorJudgement
from ppdm_flow.requirements.sensitivities.judging import judge
from ppdm_flow.requirements.sensitivities.picture import charts_of
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.sensitivities.second_route import again, unreleased_sql
from ppdm_flow.requirements.sensitivities.sentences import sentence
from ppdm_flow.requirements.sensitivities.unreleased import unreleased_margin
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


class SensitivitiesAudit:
    """Judges each requirement on every released column that carries its attribute; the worst one counts."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the margins, the posteriors behind them, and how well the bytes fit, for each requirement."""
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        all_findings: list[Finding] = []
        charts: list[Chart] = []
        own = _own(ctx)
        tests = max(1, sum(len(_columns(r, candidate, ctx)) for r in own))
        for requirement in own:
            columns = _columns(requirement, candidate, ctx)
            judged = [(c, judge(requirement, c, original, candidate, ctx, ERROR / tests)) for c in columns]
            known = [j for _, j in judged if j is not None]
            if not columns:
                mine = {"margin": Figure(unreleased_margin(requirement, original), "probability")}
            elif len(known) < len(columns):
                mine = {"margin": Figure(None, "probability", note="no operator is known")}
                all_findings.extend(no_operator(requirement, c) for c, j in judged if j is None)
            else:
                mine = figures_of(worst(known))
                all_findings.extend(f for j in known for f in findings(j))
                charts.extend(c for j in known for c in charts_of(j, ctx))
            figures |= {f"{requirement.id}.{name}": figure for name, figure in mine.items()}
            measured.append(_measured(requirement, columns, known, mine["margin"]))
        return AuditOutcome(figures, tuple(measured), tuple(all_findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Compute the margins again from every single entry of the operator."""
        all_figures: dict[str, float | int | None] = {}
        for requirement in _own(ctx):
            columns = _columns(requirement, candidate, ctx)
            if not columns:
                all_figures[f"{requirement.id}.margin"] = unreleased_sql(requirement, original)
            elif all(c in ctx.operators for c in columns):
                every = [again(requirement, c, original, candidate, ctx) for c in columns]
                figures = max(every, key=lambda f: f["margin"])
                all_figures |= {f"{requirement.id}.{name}": value for name, value in figures.items()}
        return all_figures


def worst(judged: list[PosteriorJudgement]) -> PosteriorJudgement:
    """Return the judgement with the largest margin, unless one cannot be relied on at all."""
    return max(judged, key=lambda j: j.margin)


def _own(ctx: AuditContext) -> list[Sensitivity]:
    return [r for r in ctx.requirements if isinstance(r, Sensitivity)]


def _columns(requirement: Sensitivity, candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the columns to be judged: what is computed from the drawn value alone tells no more than that one.

    Where no operator is known that anything was drawn by, the claim that it was is all there is: every one is judged.
    """
    every = carriers(requirement.attribute, candidate, ctx)
    if not any(c in ctx.operators for c in every):
        return tuple(every)
    return tuple(c for c in every if c in ctx.operators or requirement.attribute not in facts_of(c, ctx).drawn)


def _measured(
    requirement: Sensitivity, columns: tuple[str, ...], known: list[PosteriorJudgement], margin: Figure
) -> Measured:
    verifiable = len(known) == len(columns) and not any(j.fault for j in known)
    return Measured(
        requirement=requirement.id,
        metric=f"{requirement.id}.margin",
        figure=margin,
        bound=0.0,
        at_most=True,
        sentence=sentence(requirement, columns, known),
        verifiable=verifiable,
    )
