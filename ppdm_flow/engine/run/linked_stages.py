"""The stages of a run of linked tables: each table by its own plan and under one key, then all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain

from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.engine.candidates.building import SCRATCH, Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.judging.auditing import UnaccountedFiles, add_unverified
from ppdm_flow.engine.judging.others import files_of_people, unpaired
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.ledger.ledger import RunLedger, locked_ledger
from ppdm_flow.engine.ledger.membership import of_run
from ppdm_flow.engine.linked.joining import JoinSource, LinkedReleases
from ppdm_flow.engine.linked.judging import AuditedJoin, TablesJudge, audited_join
from ppdm_flow.engine.linked.sources import LinkedOriginals, table_context
from ppdm_flow.engine.linked.table_reader import table_readers
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.reading.suspicions import findings as suspected
from ppdm_flow.engine.run.stages import AuditedTable, Look, WrittenTable, ignore_candidates, written_table
from ppdm_flow.engine.steps.keys import run_key
from ppdm_flow.plan.definition import Plan, PlannedTableJoin
from ppdm_flow.plan.linked.restriction import restricted
from ppdm_flow.plan.together import read_together
from ppdm_flow.sdk.anonymizer import Fitted
from ppdm_flow.sdk.audit import FilesReader


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

    def judged(self) -> JudgedResults:
        """Judge it. Raises RunError where a step quotes the data."""
        steps = tuple(chain.from_iterable(table.graph.results() for table in self.tables.values()))
        source = chain.from_iterable(
            (*suspected(table.original.suspicions), *table.personal) for table in self.tables.values()
        )
        audited = {name: table.audited for name, table in self.tables.items()}
        return TablesJudge(self.context.plan, audited, self.joins).judged(steps, source)


@contextmanager
def audited_tables(
    context: RunContext,
    originals: LinkedOriginals,
    directory: RunDirectory,
    ledger: RunLedger | None,
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
        readers = _readers(plan, originals, written, ledger) if read_together(plan) else {}
        tables = {
            name: table.audited(
                of_run(table.context.plan, table.candidates) if histories is None else histories,
                look,
                ledger,
                readers.get(name),
            )
            for name, table in written.items()
        }
        graphs = {name: audited.graph for name, audited in tables.items()}
        source = JoinSource(context, originals, LinkedReleases.of_run(plan, originals, graphs))
        joins = [_add_unverified(j, written) for j in _audited_joins(source, directory, beside=bool(readers))]
        yield AuditedTables(context, originals, tables, joins, key)


def _readers(
    plan: Plan, originals: LinkedOriginals, written: Mapping[str, WrittenTable], ledger: RunLedger | None
) -> Mapping[str, FilesReader]:
    files, reasons = {}, []
    if ledger is not None and ledger.has_earlier:
        reasons.append("what the ledger's earlier releases tell of linked tables is not accounted for")
    for name, table in written.items():
        subjects = {c.release.name: c.subject for c in table.candidates}
        stream = originals.tables[name].stream
        files[name] = list(files_of_people(table.context.plan, table.builder.graph, subjects, stream).values())
        reasons.append(unpaired(table.context.plan, subjects))
    return table_readers(plan, originals, files, next(filter(None, reasons), ""))


def _in_order(plan: Plan, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates in the policy's order."""
    by_name = {c.release.name: c for c in candidates}
    return [by_name[release.name] for release in plan.releases]


def _audited_joins(source: JoinSource, directory: RunDirectory, *, beside: bool) -> Iterator[AuditedJoin]:
    """Audit the joins of releases by their keys; with readers ``beside`` them, for what these do not tell."""
    for join in source.context.plan.joins:
        left = _without_files(join) if beside else join
        if left.plan.requirements:
            yield audited_join(source, left, directory.folder(SCRATCH))
            directory.remove(SCRATCH)


def _add_unverified(join: AuditedJoin, written: Mapping[str, WrittenTable]) -> AuditedJoin:
    """Say of which requirements earlier releases of the tables tell more than was measured on their join."""
    if join.audited is None:
        return join
    reasons: dict[tuple[str, str], UnaccountedFiles] = {}
    for name, table in written.items():
        reasons |= table.builder.reasons_unverified(restricted(join.join.plan.requirements, name))
    return replace(join, audited=[add_unverified(result, reasons) for result in join.audited])


def _without_files(join: PlannedTableJoin) -> PlannedTableJoin:
    """Return the join with the requirements whose audits do not hold all files against each other themselves."""
    plan = join.plan
    audits = [replace(a, requirements=_not_of_files(a.requirements)) for a in plan.audits]
    return replace(
        join,
        plan=replace(
            plan, requirements=_not_of_files(plan.requirements), audits=tuple(a for a in audits if a.requirements)
        ),
    )


def _not_of_files(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    return tuple(r for r in requirements if not r.of_all_files)
