"""Releases of linked tables judged: each table by its own plan, and what whoever has all of them joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import Finding, RequirementResult, StepResult
from ppdm_flow.engine.judging.auditing import AuditResult, audit_all, refuse_quoting_audits
from ppdm_flow.engine.judging.judging import requirements_of, unmeasured
from ppdm_flow.engine.judging.results import JudgedResults, judge_audits
from ppdm_flow.engine.linked.joining import JoinSource
from ppdm_flow.engine.linked.universe import MOST_ROWS, TooManyRowsError
from ppdm_flow.plan.definition import Plan, PlannedTableJoin


@dataclass(frozen=True, slots=True)
class AuditedJoin:
    """A join of releases of several tables, and what was measured on it; None where ``obstacle`` says why not."""

    join: PlannedTableJoin
    audited: Sequence[AuditResult] | None
    obstacle: Finding | None = None


def audited_join(source: JoinSource, join: PlannedTableJoin, folder: Path) -> AuditedJoin:
    """Audit a join; ``folder`` is a private one for what audits write."""
    context = source.context
    try:
        audits = source.audits(join)
    except TooManyRowsError:
        return AuditedJoin(join, None, _too_many(join))
    alone = replace(context, plan=join.plan)
    results = audit_all(alone, [(a.node, a.subject) for a in audits], folder)
    for table in context.plan.tables:
        refuse_quoting_audits(table.plan, source.originals.tables[table.name].stream, results)
    return AuditedJoin(join, [audit.explained(result) for audit, result in zip(audits, results, strict=True)])


@dataclass(frozen=True, slots=True)
class TablesJudge:
    """Judges what was measured of linked tables: by table, and on their joins.

    ``unread`` says why what all files tell together was not measured, where it is not.
    """

    plan: Plan
    tables: Mapping[str, Sequence[AuditResult]]
    joins: Sequence[AuditedJoin]
    unread: Finding | None = None

    def judged(self, steps: tuple[StepResult, ...] = (), source: Iterable[Finding] = ()) -> JudgedResults:
        """Judge it. ``source`` are findings to list before their own."""
        of_tables = [result for audited in self.tables.values() for result in audited]
        of_joins = [result for each in self.joins for result in each.audited or ()]
        findings = [each for each in (*(j.obstacle for j in self.joins), self.unread) if each is not None]
        results = judge_audits(self.plan, [*of_tables, *of_joins], steps, source, findings)
        return replace(results, requirements=tuple(self._requirements()))

    def _requirements(self) -> Iterator[RequirementResult]:
        """Yield what became of each requirement: in each table that it is about, and where these are joined."""
        for requirement in self.plan.requirements:
            results = list(self._of(requirement))
            yield from results or (unmeasured(requirement, ""),)

    def _of(self, requirement: Requirement) -> Iterator[RequirementResult]:
        for table in self.plan.tables:
            yield from requirements_of(_about(table.plan, requirement), self.tables[table.name])
        if self.unread is not None and requirement.of_all_files:
            yield unmeasured(requirement, "")
        for each in self.joins:
            about = _about(each.join.plan, requirement)
            if each.audited is not None:
                yield from requirements_of(about, each.audited)
            else:
                yield from (unmeasured(r, release.name) for r in about.requirements for release in about.releases)


def _too_many(join: PlannedTableJoin) -> Finding:
    tables = listed([f"`{name}`" for name in join.tables])
    text = f"The join of {tables} has more than {MOST_ROWS:,} rows, so that nothing is measured on it."
    return Finding("PPF916", Severity.ERROR, text, join.plan.releases[0].name)


def _about(plan: Plan, requirement: Requirement) -> Plan:
    """Return the plan with that one of its requirements."""
    return replace(plan, requirements=tuple(r for r in plan.requirements if r.id == requirement.id))
