"""The stages of a run of linked tables: each table by its own plan and under one key, then all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain

from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.records import dataclass
from ppdm_flow.engine.candidates.building import SCRATCH, Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.ledger.ledger import Ledger, locked_ledger
from ppdm_flow.engine.ledger.membership import of_run
from ppdm_flow.engine.linked.joining import JoinSource, LinkedReleases
from ppdm_flow.engine.linked.judging import AuditedJoin, TablesJudge, audited_join
from ppdm_flow.engine.linked.sources import LinkedOriginals, table_context
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.reading.suspicions import findings as suspected
from ppdm_flow.engine.run.stages import AuditedTable, Look, ignore_candidates, written_table
from ppdm_flow.engine.steps.keys import run_key
from ppdm_flow.plan.definition import Plan
from ppdm_flow.sdk.anonymizer import Fitted


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
        graphs = {name: audited.graph for name, audited in tables.items()}
        source = JoinSource(context, originals, LinkedReleases.of_run(plan, originals, graphs))
        joins = list(_audited_joins(source, directory))
        yield AuditedTables(context, originals, tables, joins, key)


def _in_order(plan: Plan, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates in the policy's order."""
    by_name = {c.release.name: c for c in candidates}
    return [by_name[release.name] for release in plan.releases]


def _audited_joins(source: JoinSource, directory: RunDirectory) -> Iterator[AuditedJoin]:
    for join in source.context.plan.joins:
        yield audited_join(source, join, directory.folder(SCRATCH))
        directory.remove(SCRATCH)
