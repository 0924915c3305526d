"""Judges figures and gives the verdict. A requirement that was not measured does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.requirement import Requirement, within
from ppdm_flow.core.results import RELEASED, WITHHELD, Chart, Figure, Finding, Measured, RequirementResult, StepResult
from ppdm_flow.engine.judging.auditing import AuditResult
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.together import SIGN


def metrics_of(plan: Plan, audited: Sequence[AuditResult], steps: Sequence[StepResult]) -> dict[str, Figure]:
    """Return every figure by its full name; with several releases those of audits carry the release's name."""
    several = len(plan.releases) > 1
    metrics: dict[str, Figure] = {}
    for done in audited:
        prefix = f"{done.node.release}/" if several else ""
        own = "" if done.node.requirements else f"{done.node.name}."
        metrics |= {f"{prefix}{own}{key}": figure for key, figure in done.outcome.figures.items()}
        for measured in done.outcome.measured:
            metrics.setdefault(f"{prefix}{measured.metric}", measured.figure)
    for step in steps:
        metrics |= {f"{step.name}.{key}": figure for key, figure in step.figures.items()}
    return dict(sorted(metrics.items()))


def requirements_of(plan: Plan, audited: Sequence[AuditResult]) -> tuple[RequirementResult, ...]:
    """Judge every requirement on every release, in the policy's order, and on releases that are joined."""
    own = [release.name for release in plan.releases]
    joined = [name for name in dict.fromkeys(a.node.release for a in audited) if name not in own]
    results: list[RequirementResult] = []
    for requirement in plan.requirements:
        measured_releases = {
            a.node.release for a in audited if any(r.id == requirement.id for r in a.node.requirements)
        }
        about = [n for n in joined if any(map(requirement.concerns, n.split(SIGN)))]
        tables = [n for n in about if requirement.on_joined or n in measured_releases]
        for release in (*(name for name in own if requirement.concerns(name)), *tables):
            outcomes = [a.outcome for a in audited if a.node.release == release]
            measured = [m for o in outcomes for m in o.measured if m.requirement == requirement.id]
            results += _judged(requirement, release, measured)
    return tuple(results)


def gates_of(plan: Plan, metrics: Mapping[str, Figure]) -> tuple[RequirementResult, ...]:
    """Judge every gate on each release that it is about; where its metric does not exist it does not hold."""
    there = {release.name for release in plan.releases}
    judged = (gate for gate in plan.gates if not gate.releases or not there.isdisjoint(gate.releases))
    return tuple(result for gate in judged for result in _gated(plan, gate, metrics))


def charts_of(plan: Plan, audited: Sequence[AuditResult]) -> tuple[Chart, ...]:
    """Return the audits' charts; with several releases each says which one it shows."""
    several = len(plan.releases) > 1
    return tuple(replace(c, release=a.node.release) if several else c for a in audited for c in a.outcome.charts)


def findings_of(plan: Plan, audited: Sequence[AuditResult], steps: Sequence[StepResult]) -> tuple[Finding, ...]:
    """Return the findings of audits and steps, each once; with several releases each names its own."""
    several = len(plan.releases) > 1
    findings = [
        replace(f, release=_about(f, a.node.release)) if several else f for a in audited for f in a.outcome.findings
    ]
    return tuple(dict.fromkeys((*findings, *(f for step in steps for f in step.findings))))


def _about(finding: Finding, release: str) -> str:
    return "" if finding.subject.partition(".")[0] == release else release


def verdict(results: Iterable[RequirementResult]) -> str:
    """Return ``released`` where everything holds, or is waived."""
    return RELEASED if all(r.passes for r in results) else WITHHELD


def _judged(requirement: Requirement, release: str, measured: Sequence[Measured]) -> list[RequirementResult]:
    if not measured:
        return [unmeasured(requirement, release)]
    return [_result(requirement, release, m) for m in measured]


def unmeasured(requirement: Requirement, release: str) -> RequirementResult:
    """Return the result of a requirement that nobody measured: it does not hold."""
    return RequirementResult(
        id=requirement.id,
        release=release,
        metric=requirement.id,
        bound=0.0,
        direction="at_least",
        measured=None,
        holds=False,
        sentence="No audit measured this requirement, so it does not hold.",
        span=requirement.span,
        verified=False,
    )


def _result(requirement: Requirement, release: str, measured: Measured) -> RequirementResult:
    value = measured.figure.value
    holds = measured.verifiable and value is not None and within(value, measured.bound, at_most=measured.at_most)
    return RequirementResult(
        id=requirement.id,
        release=release,
        metric=measured.metric,
        bound=measured.bound,
        direction="at_most" if measured.at_most else "at_least",
        measured=value,
        holds=holds,
        sentence=measured.sentence,
        interval=measured.figure.interval,
        span=requirement.span,
        verified=measured.verifiable and value is not None,
    )


def _gated(plan: Plan, gate: FigureGate, metrics: Mapping[str, Figure]) -> list[RequirementResult]:
    named = dict(_named(plan, gate.metric, metrics))
    bounds = [(b, at_most) for b, at_most in ((gate.minimum, False), (gate.maximum, True)) if b is not None]
    about = [r.name for r in plan.releases if r.name in gate.releases] or list(named) or [""]
    results: list[RequirementResult] = []
    for release in about:
        if release in named:
            figure = metrics[named[release]]
            results += [_gate(gate, release, bound, figure, at_most=at_most) for bound, at_most in bounds]
        else:
            results.append(_unmet(gate, release, *(bounds[0] if bounds else (0.0, True))))
    return results


def _unmet(gate: FigureGate, release: str, bound: float, at_most: bool) -> RequirementResult:
    where = f" on release `{release}`" if release else ""
    text = f"There is no figure `{gate.figure}`{where}, so the gate does not hold."
    return _gate(gate, release, bound, None, at_most=at_most, sentence=text)


def _named(plan: Plan, metric: str, metrics: Mapping[str, Figure]) -> list[tuple[str, str]]:
    """Return (release, full name) of every figure that a gate means."""
    release, mark, own = metric.partition("/")
    if mark and metric in metrics:
        return [(release, metric)]
    if mark and [r.name for r in plan.releases] == [release] and own in metrics:
        return [(release, own)]
    if metric in metrics:
        return [(plan.releases[0].name if len(plan.releases) == 1 else "", metric)]
    return [(r.name, f"{r.name}/{metric}") for r in plan.releases if f"{r.name}/{metric}" in metrics]


def _gate(
    gate: FigureGate, release: str, bound: float, figure: Figure | None, *, at_most: bool, sentence: str = ""
) -> RequirementResult:
    value = None if figure is None else figure.value
    inside = value is not None and within(value, bound, at_most=at_most)
    sure = figure is None or value is None or gate.sure(value, figure.interval)
    if not sentence and figure is not None:
        sentence = _sentence(gate, figure, f"{'at most' if at_most else 'at least'} {bound:g}")
        sentence += "" if sure or not inside else " It says too little to hold."
    return RequirementResult(
        id=gate.id,
        release=release,
        metric=gate.metric,
        bound=bound,
        direction="at_most" if at_most else "at_least",
        measured=value,
        holds=inside and sure,
        sentence=sentence,
        interval=None if figure is None else figure.interval,
        span=gate.span,
        verified=value is not None and (sure or not inside),
    )


def _sentence(gate: FigureGate, figure: Figure, bound: str) -> str:
    """Return a text with the measured figure and its bound."""
    if figure.value is None:
        why = f" ({figure.note})" if figure.note else ""
        return f"`{gate.metric}` does not exist{why}; it has to be {bound}."
    measured = f"`{gate.metric}` is {figure.value:.6g}"
    if gate.sure(figure.value, figure.interval) or figure.interval is None:
        return f"{measured}; it has to be {bound}."
    low, high = figure.interval
    most = gate.max_width * max(1.0, abs(figure.value))
    return (
        f"{measured}, anywhere from {low:.4g} to {high:.4g}; it has to be {bound}, and no more than {most:.4g} apart."
    )
