"""The stages of a run of linked tables: each table by its own plan and under one key, then all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import Finding, RequirementResult
from ppdm_flow.engine.candidates.building import SCRATCH, Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.judging.auditing import AuditResult, audit_all, refuse_quoting_audits
from ppdm_flow.engine.judging.judging import requirements_of, unmeasured
from ppdm_flow.engine.judging.results import JudgedResults, judge_audits
from ppdm_flow.engine.ledger.ledger import Ledger, locked_ledger
from ppdm_flow.engine.ledger.membership import of_run
from ppdm_flow.engine.linked.joining import JoinSource
from ppdm_flow.engine.linked.sources import LinkedOriginals, table_context
from ppdm_flow.engine.linked.universe import MOST_ROWS, TooManyRowsError
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.reading.suspicions import findings as suspected
from ppdm_flow.engine.run.stages import AuditedTable, Look, ignore_candidates, written_table
from ppdm_flow.engine.steps.keys import run_key
from ppdm_flow.plan.definition import Plan, TableJoin
from ppdm_flow.sdk.anonymizer import Fitted


@dataclass(frozen=True, slots=True)
class AuditedJoin:
    """A join of releases of several tables, and what was measured on it; None where it has too many rows."""

    join: TableJoin
    audited: Sequence[AuditResult] | None


@dataclass(frozen=True, slots=True)
class AuditedTables:
    """The run of linked tables whose audits are done, ready for its verdict."""

    context: RunContext
    sources: LinkedOriginals
    tables: Mapping[str, AuditedTable]
    joins: Sequence[AuditedJoin]
    key: RunKey

    @property
    def originals(self) -> Mapping[str, Original]:
        """The originals by table."""
        return self.sources.tables

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The candidates of all tables, in the policy's order."""
        return _in_order(self.context.plan, [c for table in self.tables.values() for c in table.candidates])

    @property
    def fitted(self) -> Mapping[str, Fitted]:
        """The fitted steps by name."""
        return {name: step for table in self.tables.values() for name, step in table.fitted.items()}

    def judged(self, ledger: Iterable[Finding] = ()) -> JudgedResults:
        """Judge it; ``ledger`` are the findings of the ledger. Raises RunError where a step quotes the data."""
        plan = self.context.plan
        steps = tuple(chain.from_iterable(table.graph.results() for table in self.tables.values()))
        source = chain.from_iterable(suspected(table.original.suspicions) for table in self.tables.values())
        of_tables = [result for table in self.tables.values() for result in table.audited]
        of_joins = [result for each in self.joins for result in each.audited or ()]
        findings = [*ledger, *(_too_many(each.join) for each in self.joins if each.audited is None)]
        results = judge_audits(plan, [*of_tables, *of_joins], steps, source, findings)
        return replace(results, requirements=tuple(self._requirements(plan)))

    def _requirements(self, plan: Plan) -> Iterator[RequirementResult]:
        """Yield what became of each requirement: in each table that it is about, and where these are joined."""
        for requirement in plan.requirements:
            results = list(self._of(requirement))
            yield from results or (unmeasured(requirement, ""),)

    def _of(self, requirement: Requirement) -> Iterator[RequirementResult]:
        for name, table in self.tables.items():
            own = next(t.plan for t in self.context.plan.tables if t.name == name)
            yield from requirements_of(_about(own, requirement), table.audited)
        for each in self.joins:
            about = _about(each.join.plan, requirement)
            if each.audited is not None:
                yield from requirements_of(about, each.audited)
            else:
                yield from (unmeasured(r, release.name) for r in about.requirements for release in about.releases)


@contextmanager
def audited_tables(
    context: RunContext,
    originals: LinkedOriginals,
    directory: RunDirectory,
    ledger: Ledger | None,
    look: Look = ignore_candidates,
) -> Iterator[AuditedTables]:
    """Carry out the plans of all tables in ``directory``, and audit what they made, alone and joined.

    Inside, no other run gets at the ledger, which holds the releases of all tables against each other. Raises
    DataError, PluginError or RunError.
    """
    plan = context.plan
    key = run_key(plan, context.options.key)
    keyed = replace(context, options=replace(context.options, key=key))
    written = {
        table.name: written_table(
            table_context(keyed, table, len(plan.tables)), originals.tables[table.name], directory
        )
        for table in plan.tables
    }
    with locked_ledger(ledger):
        candidates = _in_order(plan, [c for table in written.values() for c in table.candidates])
        histories = ledger.histories(candidates) if ledger else None
        tables = {
            name: table.audited(of_run(table.context.plan, table.candidates) if histories is None else histories, look)
            for name, table in written.items()
        }
        source = JoinSource(context, originals, {name: audited.graph for name, audited in tables.items()})
        joins = [AuditedJoin(join, _audited(context, source, join, directory)) for join in plan.joins]
        yield AuditedTables(context, originals, tables, joins, key)


def _in_order(plan: Plan, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates in the policy's order."""
    by_name = {c.release.name: c for c in candidates}
    return [by_name[release.name] for release in plan.releases]


def _audited(
    context: RunContext, source: JoinSource, join: TableJoin, directory: RunDirectory
) -> Sequence[AuditResult] | None:
    try:
        audits = source.audits(join)
    except TooManyRowsError:
        return None
    alone = replace(context, plan=join.plan)
    results = audit_all(alone, [(a.node, a.subject) for a in audits], directory.folder(SCRATCH))
    directory.remove(SCRATCH)
    for table in context.plan.tables:
        refuse_quoting_audits(table.plan, source.originals.tables[table.name].stream, results)
    return [audit.explained(result) for audit, result in zip(audits, results, strict=True)]


def _too_many(join: TableJoin) -> Finding:
    tables = listed([f"`{name}`" for name in join.tables])
    text = f"The join of {tables} has more than {MOST_ROWS:,} rows, so that nothing is measured on it."
    return Finding("PPF916", Severity.ERROR, text, join.plan.releases[0].name)


def _about(plan: Plan, requirement: Requirement) -> Plan:
    """Return the plan with that one of its requirements."""
    return replace(plan, requirements=tuple(r for r in plan.requirements if r.id == requirement.id))
