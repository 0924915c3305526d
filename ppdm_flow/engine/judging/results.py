"""The results on the releases of a plan: its figures, its verdict, and the report on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import (
    HELD,
    PERSONAL_DATA,
    RELEASED,
    Chart,
    Figure,
    Finding,
    Report,
    RequirementResult,
    StepResult,
    WaiverResult,
)
from ppdm_flow.core.waivers import AcceptedWaiver, of_privacy
from ppdm_flow.engine.judging.auditing import AuditResult
from ppdm_flow.engine.judging.judging import charts_of, findings_of, gates_of, metrics_of, requirements_of, verdict
from ppdm_flow.engine.judging.personal_data import findings_on, personal_results
from ppdm_flow.engine.manifest import JudgedChecks
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document


@dataclass(frozen=True, slots=True)
class JudgedResults:
    """``metrics`` has every figure by its full name; ``waivers`` is empty until :func:`waive` lays them over it.

    ``seconds`` is how long the steps and audits took, where that was timed.
    """

    requirements: tuple[RequirementResult, ...]
    gates: tuple[RequirementResult, ...]
    metrics: Mapping[str, Figure]
    steps: tuple[StepResult, ...]
    findings: tuple[Finding, ...]
    charts: tuple[Chart, ...]
    waivers: tuple[WaiverResult, ...] = ()
    seconds: float = 0.0

    @property
    def judged(self) -> tuple[RequirementResult, ...]:
        """Requirements and gates: what the verdict depends on."""
        return (*self.requirements, *self.gates)

    @property
    def verdict(self) -> str:
        """``released`` where everything holds, or is waived."""
        return verdict(self.judged)

    def verdict_for(self, plan: Plan) -> str:
        """Return the verdict on a run of a plan: ``held`` in place of ``released`` where people have to approve it."""
        return HELD if self.verdict == RELEASED and plan.approvals is not None else self.verdict

    @property
    def tally(self) -> JudgedChecks:
        """How many requirements and gates there are, how many fail, and how many would and are waived."""
        failed, waived = sum(not r.passes for r in self.judged), sum(bool(r.waived_by) for r in self.judged)
        return {"total": len(self.judged), "failed": failed, "waived": waived}

    def report(self, plan: Plan, releases: Mapping[str, Mapping[str, Any]], run: Mapping[str, Any]) -> Report:
        """Return the report; ``releases`` and ``run`` are what it says of the files and of how they were made."""
        return Report(
            policy=plan.policy,
            verdict=self.verdict,
            requirements=self.requirements,
            gates=self.gates,
            metrics=self.metrics,
            steps=self.steps,
            findings=self.findings,
            charts=self.charts,
            releases=releases,
            plan=document(plan),
            secrets=plan.secrets,
            run=run,
            waivers=self.waivers,
        )


def judge_audits(
    plan: Plan,
    audited: Sequence[AuditResult],
    steps: tuple[StepResult, ...] = (),
    source: Iterable[Finding] = (),
    ledger: Iterable[Finding] = (),
) -> JudgedResults:
    """Judge what the audits measured. ``source`` and ``ledger`` are findings to list before and after their own."""
    metrics = metrics_of(plan, audited, steps)
    findings = (*source, *findings_of(plan, audited, steps), *ledger)
    requirements, gates = requirements_of(plan, audited), (*gates_of(plan, metrics), *personal_results(plan, findings))
    return JudgedResults(requirements, gates, metrics, steps, findings, charts_of(plan, audited))


# Waivers at the verdict: what does not hold and need not, and which waivers nothing needed.


UNUSED = "PPF685"
EXPIRED = "PPF686"


def waive(plan: Plan, results: JudgedResults, today: date) -> JudgedResults:
    """Lay the plan's waivers over what was judged, on the day of the verdict.

    Only a figure that was measured, was verified, and lies beyond its bound is waived: where two routes disagree, or
    nothing vouches for a figure, nobody knows what one would put up with. ``ledger.repeat`` never is, and a
    requirement only where its waiver has leave.
    """
    distinct = tuple(dict.fromkeys(results.findings))
    valid = [w for w in plan.waivers if not w.expired(today)]
    never = {r.id for r in plan.requirements if not r.waivable}
    requirements = tuple(_over(r, [w for w in valid if r.id not in never]) for r in results.requirements)
    gated = tuple(
        _over_columns(r, valid, distinct) if r.id == PERSONAL_DATA else _over(r, valid) for r in results.gates
    )
    waivers = tuple(_result(w, (*requirements, *gated), distinct, today) for w in plan.waivers)
    waiver_findings = (
        finding for each in waivers for finding in _waiver_findings(each, (*requirements, *gated), distinct, today)
    )
    return replace(
        results, requirements=requirements, gates=gated, waivers=waivers, findings=(*distinct, *waiver_findings)
    )


def _over(result: RequirementResult, waivers: Iterable[AcceptedWaiver]) -> RequirementResult:
    if result.holds or not result.verified or result.measured is None:
        return result
    mine = (w for w in waivers if w.of == result.id and (w.privacy or not _private(result)))
    waiver = next(mine, None)
    return replace(result, waived_by=waiver.name) if waiver else result


def _over_columns(
    result: RequirementResult, waivers: Sequence[AcceptedWaiver], findings: Sequence[Finding]
) -> RequirementResult:
    """Waive what withholds for columns with personal data, where the finding on each of them is waived."""
    covering = [
        next((w.name for w in waivers if _about(w, finding)), "") for finding in findings_on(result.release, findings)
    ]
    return replace(result, waived_by=covering[0]) if all(covering) else result


def _private(result: RequirementResult) -> bool:
    """Whether it is a requirement, or a gate on the figure of one."""
    return of_privacy(result.id) or of_privacy(result.metric)


def _result(
    waiver: AcceptedWaiver, results: Sequence[RequirementResult], findings: Sequence[Finding], today: date
) -> WaiverResult:
    if waiver.expired(today):
        return WaiverResult(waiver, waiver.days_left(today))
    named = [f"{r.id} on {r.release}" if r.release else r.id for r in results if r.waived_by == waiver.name]
    mine = [f for f in findings if f.severity is not Severity.ERROR and _about(waiver, f)]
    covered = [f"{f.code} {f.subject}".rstrip() for f in mine]
    covers = tuple(dict.fromkeys((*named, *waiver.covers, *covered)))
    return WaiverResult(waiver, waiver.days_left(today), covers, tuple(dict.fromkeys(f.hash for f in mine)))


def _about(waiver: AcceptedWaiver, finding: Finding) -> bool:
    return waiver.covers_finding(finding.code, finding.subject, finding.hashes)


def _waiver_findings(
    outcome: WaiverResult, results: Sequence[RequirementResult], findings: Sequence[Finding], today: date
) -> Iterable[Finding]:
    """Yield a finding about a waiver that expired while the run was going on, or that nothing needed."""
    waiver, subject = outcome.waiver, f"waivers.{outcome.waiver.name}"
    if waiver.expired(today):
        text = f"Waiver `{waiver.name}` expired before the verdict (its last day was {waiver.until}): it covers nothing"
        yield Finding(EXPIRED, Severity.WARNING, text, subject)
    elif not outcome.covers:
        text = f"Waiver `{waiver.name}` covers nothing: {_why(waiver, results, findings)}"
        yield Finding(UNUSED, Severity.WARNING, text, subject)


def _why(waiver: AcceptedWaiver, results: Sequence[RequirementResult], findings: Sequence[Finding]) -> str:
    mine = [r for r in results if r.id == waiver.of]
    if any(not r.holds for r in mine):
        return f"`{waiver.of}` could not be measured or verified, and such a failure cannot be waived"
    if mine:
        return f"`{waiver.of}` holds"
    if any(_about(replace(waiver, privacy=True), f) for f in findings):
        return "what it is about is an error, or stands under `privacy:`, and cannot be waived"
    return f"the run found no `{waiver.of}`"
