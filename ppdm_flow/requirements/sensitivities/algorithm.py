"""The (r1, r2) bounds of sensitive values: worst posteriors by the operator, and a test of the bytes against it.

An upward breach: a prior of at most r1 becomes a posterior above r2. A downward breach: a prior of at least r2 becomes
a posterior below r1 (Evfimievski, Gehrke, Srikant 2003, definition 2). Both worst cases follow exactly from the
operator, for any prior; Chaytor and Wang's Theorem 1 covers the first only. That the released bytes come from that
operator is tested at an error probability of one in a million.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.requirement import within
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.core.roles import Directions, ValuesAbsent
from ppdm_flow.mining.exposure.columns import carriers, facts_of
from ppdm_flow.mining.reconstruction.histogram import histogram
from ppdm_flow.mining.releases.attributes import listed, source_of
from ppdm_flow.requirements.sensitivities.fit import ERROR
from ppdm_flow.requirements.sensitivities.judgement import (
    LEVEL,
    NO_BOUND,
    ObservedHits,
    PersonDraws,
    PosteriorJudgement,
    bounds,
    clopper_pearson,
)
from ppdm_flow.requirements.sensitivities.judging import judge
from ppdm_flow.requirements.sensitivities.replay import Replay
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.sensitivities.second_route import figures_sql, unreleased_sql
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, share_of
from ppdm_flow.tables.column import MISSING


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
                every = [figures_sql(requirement, c, original, candidate, ctx) for c in columns]
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


def unreleased_margin(requirement: Sensitivity, original: DataView) -> float:
    """Return the largest r1 - r2, below 0: posteriors are the priors themselves."""
    margins = [b.r1 - b.r2 for b in requirement.bounds]
    if requirement.attribute in original.schema:
        domain = original.domain(requirement.attribute).to_pylist()
        distribution = histogram(original, requirement.attribute, domain)
        bound = bounds(requirement, domain, distribution.frequency)
        margins.extend((bound.r1 - bound.r2)[bound.judged].tolist())
    return max(margins, default=NO_BOUND)


# What a reader should know of a judged sensitivity beside its margin.


def no_operator(requirement: Sensitivity, column: str) -> Finding:
    """Return the finding for a released column that no step is known to have randomized."""
    return Finding(
        "PPF810",
        Severity.ERROR,
        f"no randomization operator is known for `{column}`, so no bound on what is learned from it can be verified",
        f"{requirement.id}.{column}",
    )


def findings(judged: PosteriorJudgement) -> Iterator[Finding]:
    """Yield contradictions first, then what weakens or qualifies the judgement."""
    subject = f"{judged.requirement.id}.{judged.column}"
    if judged.doubt:
        yield Finding("PPF816", Severity.ERROR, f"`{judged.column}`: {judged.doubt}", subject)
    elif judged.bytes_check.fault:
        code = "PPF811" if judged.bytes_check.p_value is not None else "PPF812"
        yield Finding(code, Severity.ERROR, f"`{judged.column}`: {judged.bytes_check.fault}", subject)
    elif not judged.bytes_check.sharp:
        text = f"there are too few rows to tell a perturbed `{judged.column}` from an unperturbed one"
        yield Finding("PPF814", Severity.INFO, text, subject)
    if judged.replayed is not None and judged.replayed.recovered:
        text = (
            f"`{judged.column}`: a reader who has the policy has its seed, can draw again, and recovers"
            f" {judged.replayed.share:.1%} of the values for certain; the bounds hold for all others only"
        )
        yield Finding("PPF817", Severity.WARNING, text, subject)
    if judged.requirement.tolerance is not None:
        text = (
            f"the operator of `{judged.column}` was made from how often each value occurs (`tolerance`): a reader of it"
            " works out the exact counts of the original, and from those of two releases who was added or left out"
        )
        yield Finding("PPF647", Severity.INFO, text, subject)
    yield from _known_too_well(judged, subject)
    yield from _strangers(judged, subject)


def _known_too_well(judged: PosteriorJudgement, subject: str) -> Iterator[Finding]:
    own = {b.value for b in judged.requirement.bounds}
    values = [judged.domain[i] for i in judged.bounds.known_too_well]
    named = [v for v in values if v is not None and v in own]
    others = len(values) - len(named)
    parts = [listed(named)] * bool(named) + [f"{others} further value{'s' * (others > 1)}"] * bool(others)
    if parts:
        text = (
            f"{' and '.join(parts)} of `{judged.column}`: more frequent in the data than r2, so known too well"
            " beforehand; no release can keep a posterior below where the prior is already"
        )
        yield Finding("PPF741", Severity.WARNING, text, subject)


def _strangers(judged: PosteriorJudgement, subject: str) -> Iterator[Finding]:
    known = set(judged.domain)
    strange = list(dict.fromkeys(b.value for b in judged.requirement.bounds if b.value not in known))
    if strange and judged.requirement.values_absent is ValuesAbsent.ERROR:
        text = (
            f"{listed(strange)} of `{judged.column}` has a bound but is not among the values that the operator knows:"
            " check the spelling in the policy"
        )
        yield Finding("PPF815", Severity.WARNING, text, subject)


# The figures of one judged column.


def figures_of(judged: PosteriorJudgement) -> dict[str, Figure]:
    """Return the margins, the posteriors behind them, what was counted, and how well the bytes fit."""
    bounded = judged.bounded
    none = "" if len(bounded) else "no value is bounded"
    finite = math.isfinite(judged.amplification)
    epsilon = judged.per_person * math.log(judged.amplification) if finite else None
    highest = float(judged.at_prior.upward[bounded].max()) if len(bounded) else None
    lowest = float(judged.at_prior.downward[bounded].min()) if len(bounded) else None
    check = judged.bytes_check
    return {
        "margin": Figure(judged.margin, "probability", note=none),
        "worst_upward": Figure(judged.worst_upward, "probability", note=none),
        "worst_downward": Figure(judged.worst_downward, "probability", note=none),
        "upward_margin": Figure(float(judged.upward.max(initial=NO_BOUND)), "probability", note=none),
        "downward_margin": Figure(float(judged.downward.max(initial=NO_BOUND)), "probability", note=none),
        "highest_at_own_prior": Figure(highest, "probability", note=none),
        "lowest_at_own_prior": Figure(lowest, "probability", note=none),
        **_counted(judged.observed),
        **_recovered(judged.replayed),
        "epsilon": Figure(
            epsilon, "nats", note="" if finite else "unbounded: some value is never released for another"
        ),
        "p_value": Figure(check.p_value, "probability", note=check.route or "not tested"),
        "outside_cells": Figure(check.outside, "rows"),
        **_gamma(judged),
        **_of_people(judged.drawn),
    }


_MOST_NAMED = 40


def _gamma(judged: PosteriorJudgement) -> dict[str, Figure]:
    """Return the smallest gamma, and that of each bounded value that the policy names, the smallest ones first."""
    gamma, requirement = judged.gamma, judged.requirement
    bounded = [place for place in np.argsort(gamma, kind="stable").tolist() if np.isfinite(gamma[place])]
    note = "of the value that is bounded most" if bounded else "no value is bounded"
    figures = {"gamma": Figure(float(gamma[bounded[0]]) if bounded else None, "ratio", note=note)}
    named = {b.value for b in requirement.bounds} | set(requirement.domain or ())
    shown = [place for place in bounded if judged.domain[place] in named][:_MOST_NAMED]
    return figures | {f"gamma.{judged.domain[place]}": Figure(float(gamma[place]), "ratio") for place in shown}


def _of_people(drawn: PersonDraws | None) -> dict[str, Figure]:
    """Return how many different values a person has, and for how many rows with equal ones were drawn apart."""
    if drawn is None:
        return {}
    known = drawn.joint is not None
    return {
        "values_per_person": Figure(drawn.most if known else None, "values", note=drawn.fault),
        "unequal_draws": Figure(drawn.unequal if known else None, "values", note=drawn.fault),
    }


def _counted(observed: ObservedHits | None) -> dict[str, Figure]:
    """Return the posterior of the value with the highest predicted one, and how many intervals miss theirs."""
    none = "original and released rows cannot be paired" if observed is None else "no row shows it"
    most = observed.most if observed is not None else None
    if observed is None or most is None:
        measured = Figure(None, "probability", note=none)
    else:
        ends = (float(observed.low[most]), float(observed.high[most]))
        measured = Figure(float(observed.share[most]), "probability", ends, int(observed.trials[most]))
    missed = Figure(observed.outside if observed else None, "values", note="" if observed else none)
    return {"measured_at_own_prior": measured, "values_off_prediction": missed}


def _recovered(replayed: Replay | None) -> dict[str, Figure]:
    """Return the share that the policy's own seed gives away, where it has one that fits."""
    if replayed is None:
        return {}
    ends = None
    if replayed.rows < replayed.of:
        low, high = clopper_pearson(np.array([replayed.recovered]), np.array([replayed.rows]), 1.0 - LEVEL)
        ends = (float(low[0]), float(high[0]))
    return {"recovered_from_seed": Figure(replayed.share, "share", ends, replayed.rows)}


# The picture of a judged sensitivity: limits and worst posteriors of the values with the worst margins.


TOP = 20


def charts_of(judged: PosteriorJudgement, ctx: AuditContext) -> tuple[Chart, ...]:
    """Return the worst posteriors, and those counted over pairs where there are any."""
    worst = _worst(judged, ctx)
    return (worst,) if judged.observed is None else (worst, _counted_chart(judged, judged.observed, ctx))


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


def _counted_chart(judged: PosteriorJudgement, observed: ObservedHits, ctx: AuditContext) -> Chart:
    """Return measured beside predicted posteriors, with intervals; the highest predicted first."""
    order = np.argsort(-observed.predicted, kind="stable")
    chosen = [i for i in order.tolist() if observed.trials[i] > 0][:TOP]
    attribute = source_of(judged.column, ctx)
    low, high = (tuple(float(end[i]) for i in chosen) for end in (observed.low, observed.high))
    places = [int(observed.values[i]) for i in chosen]
    return Chart(
        id=f"{judged.requirement.id}.{judged.column}.counted",
        title=f"What the rows reveal of {judged.column}",
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


# What the margins of a sensitivity mean, in a sentence.


def sentence(requirement: Sensitivity, columns: Sequence[str], known: Sequence[PosteriorJudgement]) -> str:
    """Return the sentence for the report; values are named only where the policy wrote them."""
    if not columns:
        return f"`{requirement.attribute}` is not released, so nothing is learned of it here."
    if len(known) < len(columns):
        return (
            f"`{requirement.attribute}` is released, but no randomization operator is known for it: what can be"
            " learned of a person cannot be bounded, so this counts as not met."
        )
    faulty = next((j for j in known if j.fault), None)
    if faulty is not None:
        return f"This cannot be verified for `{faulty.column}`: {faulty.fault}."
    worst = max(known, key=lambda j: j.margin)
    return (
        _margins(worst) + _of_people_sentence(worst) + _fit(known) + _counted_sentence(worst) + _given_away(requirement)
    )


def _margins(judged: PosteriorJudgement) -> str:
    if not judged.bounds.judged.any():
        return f"No value of `{judged.column}` has a bound."
    both = judged.requirement.directions is Directions.BOTH
    if within(judged.margin, 0.0, at_most=True):
        ways = "likelier than r2 or less likely than r1" if both else "likelier than r2"
        return (
            f"For any prior belief in a person's `{judged.column}` within the limits, the released value makes no"
            f" bounded value {ways}{_closest_sentence(judged)}."
        )
    place = int(judged.margins.argmax())
    up = judged.upward[place] >= judged.downward[place] or not both
    prior, posterior, limit = (
        (judged.bounds.r1[place], judged.posteriors.upward[place], judged.bounds.r2[place])
        if up
        else (judged.bounds.r2[place], judged.posteriors.downward[place], judged.bounds.r1[place])
    )
    return (
        f"A belief of {prior:.2%} in {_named(judged, place)} of `{judged.column}` can become one of {posterior:.2%}"
        f" from the released value; {'at most' if up else 'at least'} {limit:.2%} is accepted."
    )


def _of_people_sentence(judged: PosteriorJudgement) -> str:
    if judged.drawn is None:
        return ""
    values = "one value" if judged.per_person == 1 else f"up to {judged.per_person:,} different values"
    return (
        f" A person's rows with an equal value show one draw, so that averaging over them tells no more; this holds for"
        f" people with {values}, whose rows with equal values may be known."
    )


def _closest_sentence(judged: PosteriorJudgement) -> str:
    room = -judged.margin
    return f"; the closest is {room:.4f} off its limit" if room >= 0.00005 else "; the closest is right at its limit"


def _named(judged: PosteriorJudgement, place: int) -> str:
    return _called(judged, int(judged.bounds.values[place]))


def _called(judged: PosteriorJudgement, place: int) -> str:
    value = judged.domain[place]
    own = {b.value for b in judged.requirement.bounds}
    return f"`{value}`" if value is not None and value in own else "a value"


def _fit(known: Sequence[PosteriorJudgement]) -> str:
    tested = [j.bytes_check.p_value for j in known if j.bytes_check.p_value is not None]
    return f" The released values fit the operator (p = {min(tested):.2g})." if tested else ""


def _given_away(requirement: Sensitivity) -> str:
    if requirement.tolerance is None:
        return ""
    return (
        " Its operator was made from how often each value occurs, so a reader of it knows the counts of the original"
        " exactly."
    )


def _counted_sentence(judged: PosteriorJudgement) -> str:
    """Say what the rows themselves tell most."""
    observed = judged.observed
    most = observed.most if observed is not None else None
    if observed is None or most is None:
        return ""
    return (
        f" A reader who knows the frequencies comes to {observed.predicted[most]:.2%} for"
        f" {_called(judged, int(observed.values[most]))} at most; counted over the"
        f" rows it is {observed.share[most]:.2%} ({observed.low[most]:.2%} to {observed.high[most]:.2%})."
    )


def foresee(requirement: Sensitivity, view: DataView, people: int) -> Iterator[Diagnostic]:
    """Yield which values are known too well beforehand."""
    for bound in requirement.bounds:
        if bound.given:  # about some people only: the share among all says nothing of them
            continue
        share = share_of(view, requirement.attribute, bound.value, people)
        if share is not None and share > bound.r2:
            text = (
                f"`{bound.value}` is {share:.1%} of `{requirement.attribute}`, above r2 = {bound.r2:.1%}:"
                " it is known too well beforehand; where the prior exceeds r2, no posterior bound can be breached"
            )
            yield Diagnostic("PPF741", text, bound.span or requirement.span, Severity.WARNING)
    yield from _others(requirement, view, people)


def _others(requirement: Sensitivity, view: DataView, people: int) -> Iterator[Diagnostic]:
    """Count the values above the default's r2, which the policy does not name; a tolerance is never below a share."""
    if requirement.fixed is None or requirement.attribute not in view.schema or not people:
        return
    counts = view.counts([requirement.attribute])
    own = {b.value for b in requirement.bounds}
    names = counts.names(requirement.attribute).to_pylist()
    codes = counts.of(requirement.attribute).tolist()
    shares = (counts.counts / people).tolist()
    many = sum(
        share > requirement.fixed[1] and (code < 0 or names[code] not in own)
        for code, share in zip(codes, shares, strict=True)
        if code >= MISSING
    )
    if many:
        text = (
            f"{many} value{'s' * (many > 1)} of `{requirement.attribute}` without a bound of"
            f" {'their' if many > 1 else 'its'} own: more frequent than the default's"
            f" r2 = {requirement.fixed[1]:.1%}, so known too well beforehand"
        )
        yield Diagnostic("PPF741", text, requirement.span, Severity.WARNING)
