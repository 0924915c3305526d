"""Opens the source of a plan and carries the plan out on it, for one table or for linked tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import Finding
from ppdm_flow.engine.candidates.building import SCRATCH, Candidate, CandidateBuilder
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.judging.auditing import AuditResult, UnaccountedFiles, add_unverified
from ppdm_flow.engine.judging.others import files_of_people, unpaired
from ppdm_flow.engine.judging.personal_data import personal_findings
from ppdm_flow.engine.judging.results import JudgedResults, judge_audits
from ppdm_flow.engine.ledger.ledger import RunLedger, locked_ledger
from ppdm_flow.engine.ledger.membership import of_run
from ppdm_flow.engine.linked.joining import AuditedJoin, JoinSource, LinkedReleases, TablesJudge, audited_join
from ppdm_flow.engine.linked.sources import LinkedOriginals, open_linked, table_context
from ppdm_flow.engine.linked.table_reader import table_readers
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Opening, Original
from ppdm_flow.engine.reading.original import findings as suspected
from ppdm_flow.engine.steps.graph import Graph, run_key
from ppdm_flow.plan.definition import SOURCE, Plan, PlannedTableJoin
from ppdm_flow.plan.linked import restricted
from ppdm_flow.plan.together import read_together
from ppdm_flow.sdk.anonymizer import Fitted
from ppdm_flow.sdk.audit import FilesReader
from ppdm_flow.sdk.history import ReleaseHistory

Opened: TypeAlias = Original | LinkedOriginals
Look = Callable[[Sequence[Candidate], Graph], None]
"""Sees the candidates, and the steps that made them, before their audits."""


# The stages of a run from an open source to its audits: steps, candidates, what was released before, audits.
#
# Publishing, measuring, testing and making releases again all use these, and differ in what they do with the result.


@dataclass(frozen=True, slots=True)
class AuditedTable:
    """The run of a plan for one table whose audits are done, ready for its verdict.

    ``personal`` are findings on personal data that the policy does not declare.
    """

    context: RunContext
    original: Original
    graph: Graph
    candidates: Sequence[Candidate]
    audited: Sequence[AuditResult]
    personal: Sequence[Finding] = ()

    @property
    def key(self) -> RunKey:
        """What all draws came from."""
        return self.graph.key

    @property
    def fitted(self) -> Mapping[str, Fitted]:
        """The fitted steps by name."""
        return self.graph.fitted

    @property
    def originals(self) -> Mapping[str, Original]:
        """The one original."""
        return {SOURCE: self.original}

    def judged(self) -> JudgedResults:
        """Judge it. Raises RunError where a step quotes the data."""
        steps, source = self.graph.results(), (*suspected(self.original.suspicions), *self.personal)
        return judge_audits(self.context.plan, self.audited, steps, source)


# The stages of a run of linked tables: each table by its own plan and under one key, then all of them together.


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


AuditedRun = AuditedTable | AuditedTables


def open_original(context: RunContext, data: Path | None) -> Opened:
    """Read the data of a plan once: ``data``, else the policy's own; of linked tables, a folder with their files.

    Raises DataError.
    """
    return open_linked(context, data) if context.plan.tables else Opening(context, data).open()


def ignore_candidates(_candidates: Sequence[Candidate], _graph: Graph) -> None:
    """Look at nothing."""


def audited_run(
    context: RunContext,
    original: Opened,
    directory: RunDirectory,
    ledger: RunLedger | None,
    look: Look = ignore_candidates,
) -> AbstractContextManager[AuditedRun]:
    """Carry out the plan in ``directory`` and audit what it made; inside, no other run gets at the ledger.

    Of linked tables, ``look`` sees the candidates of each table by themselves. Raises DataError, PluginError or
    RunError.
    """
    if isinstance(original, LinkedOriginals):
        return audited_tables(context, original, directory, ledger, look)
    return audited_table(context, original, directory, ledger, look)


def fitted_graph(context: RunContext, original: Original) -> Graph:
    """Return the plan's steps, fitted to the original. Raises the PpdmError of the first step that fails."""
    plan, options = context.plan, context.options
    key, engine = run_key(plan, options.key), context.engine
    graph = Graph(plan, key, original.stream, original.numbering, engine, context.resources, context.listener)
    graph.fit(options.workers)
    return graph


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """The run of a plan for one table whose candidates are written, and not audited yet."""

    context: RunContext
    original: Original
    builder: CandidateBuilder
    candidates: Sequence[Candidate]

    def audited(
        self,
        histories: Mapping[str, ReleaseHistory],
        look: Look,
        ledger: RunLedger | None,
        reader: FilesReader | None = None,
    ) -> AuditedTable:
        """Carry out the audits; ``histories`` are those of the releases, where there is a ledger.

        ``reader`` holds the releases of other tables as well.
        """
        graph = self.builder.graph
        look(self.candidates, graph)
        personal = [f for c in self.candidates for f in personal_findings(c.release, c.subject.candidate.stream)]
        before = (lambda _: None) if ledger is None else ledger.files_beside
        audited = self.builder.audit(self.candidates, histories, before, reader)
        return AuditedTable(self.context, self.original, graph, self.candidates, audited, personal)


def written_table(context: RunContext, original: Original, directory: RunDirectory) -> WrittenTable:
    """Carry out the plan in ``directory`` and write its candidates. Raises DataError, PluginError or RunError."""
    builder = CandidateBuilder(context, fitted_graph(context, original), original, directory)
    return WrittenTable(context, original, builder, builder.write())


@contextmanager
def audited_table(
    context: RunContext,
    original: Original,
    directory: RunDirectory,
    ledger: RunLedger | None,
    look: Look = ignore_candidates,
) -> Iterator[AuditedTable]:
    """Carry out the plan in ``directory`` and audit what it made; inside, no other run gets at the ledger.

    Raises DataError, PluginError or RunError.
    """
    written = written_table(context, original, directory)
    with locked_ledger(ledger):
        histories = ledger.histories(written.candidates) if ledger else of_run(context.plan, written.candidates)
        yield written.audited(histories, look, ledger)


@contextmanager
def audited_tables(
    context: RunContext,
    originals: LinkedOriginals,
    directory: RunDirectory,
    ledger: RunLedger | None,
    look: Look = ignore_candidates,
) -> Iterator[AuditedTables]:
    """Carry out the plans of all tables in ``directory``, and audit what they made, alone and joined.

    Inside, no other run can use the ledger, which compares the releases of all tables with each other. Raises
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
        reasons.append("what the ledger's earlier releases reveal of linked tables is not accounted for")
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
