"""The stages of a run from an open source to its audits: steps, candidates, what was released before, audits.

Who publishes, measures, tests or makes releases again goes through these, and differs in what becomes of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.results import Finding
from ppdm_flow.engine.candidates.building import Candidate, CandidateBuilder
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.judging.auditing import AuditResult
from ppdm_flow.engine.judging.personal_data import personal_findings
from ppdm_flow.engine.judging.results import JudgedResults, judge_audits
from ppdm_flow.engine.ledger.ledger import RunLedger, locked_ledger
from ppdm_flow.engine.ledger.membership import of_run
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.reading.suspicions import findings as suspected
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.steps.keys import run_key
from ppdm_flow.plan.definition import SOURCE
from ppdm_flow.sdk.anonymizer import Fitted
from ppdm_flow.sdk.audit import FilesReader
from ppdm_flow.sdk.history import ReleaseHistory

Look = Callable[[Sequence[Candidate], Graph], None]
"""Sees the candidates, and the steps that made them, before their audits."""


def ignore_candidates(_candidates: Sequence[Candidate], _graph: Graph) -> None:
    """Look at nothing."""


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
