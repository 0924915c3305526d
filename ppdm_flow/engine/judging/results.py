"""All that was measured and judged of the releases of a plan: its figures, its verdict, and the report on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.results import (
    HELD,
    RELEASED,
    Chart,
    Figure,
    Finding,
    Report,
    RequirementResult,
    StepResult,
    WaiverResult,
)
from ppdm_flow.engine.judging.auditing import AuditResult
from ppdm_flow.engine.judging.judging import charts_of, findings_of, gates_of, metrics_of, requirements_of, verdict
from ppdm_flow.engine.judging.personal_data import personal_results
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
