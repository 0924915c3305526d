"""Run a plan: read, transform, write, read back, audit, judge, and release or withhold."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from ppdm_flow.core.results import Report
from ppdm_flow.engine.candidates.building import CandidateBuilder
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.faults import output_fault
from ppdm_flow.engine.ledger.histories import of_run
from ppdm_flow.engine.ledger.ledger import locked_ledger, open_ledger
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.options import Outcome, RunOptions
from ppdm_flow.engine.reading.original import Opening
from ppdm_flow.engine.run.finishing import AuditedRun, Documents
from ppdm_flow.engine.run.journal import Journal
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.steps.keys import check_escrow, run_key
from ppdm_flow.engine.streams.source import Budget
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import Plan

EVENTS = "events.jsonl"


def no_documents(_report: Report) -> Mapping[str, str]:
    """Make none."""
    return {}


def execute(
    plan: Plan,
    data: Path | None,
    out: Path,
    options: RunOptions | None = None,
    listener: Listener = ignore_events,
    documents: Documents = no_documents,
) -> Outcome:
    """Execute ``plan`` on ``data`` (else on the policy's own file), into ``out/<policy>/<time>-<plan digest>/``.

    Raises DataError or PluginError where the input is at fault, RunError where the tool or the machine failed; then,
    and when it is interrupted, nothing is left behind.
    """
    chosen = (options or RunOptions()).fitting(plan)
    check_escrow(chosen.escrow)
    directory = RunDirectory(out / plan.policy)
    try:
        return _Run(plan, data, directory, chosen, documents).outcome(listener)
    except OSError as error:
        raise output_fault(error, "the run's directory") from None
    finally:
        directory.discard()


class _Run:
    """One run inside its directory."""

    def __init__(
        self, plan: Plan, data: Path | None, directory: RunDirectory, options: RunOptions, documents: Documents
    ) -> None:
        self.plan = plan
        self.data = data
        self.directory = directory
        self.options = options
        self.documents = documents

    def outcome(self, listener: Listener) -> Outcome:
        started, clock = utc_now(), time.perf_counter()
        journal = Journal(self.directory.home / EVENTS, listener)
        stop = Stop()
        try:
            options, ledger = self.options, open_ledger(self.plan)
            key = run_key(self.plan, options.key)
            budget = Budget(options.memory_limit)
            opening = Opening(self.plan, self.data, options.partition_rows, budget, stop, journal, options.workers)
            original = opening.open()
            numbering, rows = original.numbering, options.partition_rows
            graph = Graph(self.plan, key, original.stream, numbering, rows, stop, journal)
            graph.fit(options.workers)
            releasing = CandidateBuilder(self.plan, graph, original, self.directory, options, budget, stop, journal)
            candidates = releasing.write()
            with locked_ledger(ledger):
                histories = ledger.histories(candidates) if ledger else of_run(self.plan, candidates)
                if ledger:
                    ledger.check_neighbours(self.directory.parent)
                audited = releasing.audit(candidates, histories)
                return AuditedRun(
                    plan=self.plan,
                    options=options,
                    directory=self.directory,
                    key=key,
                    original=original,
                    graph=graph,
                    candidates=candidates,
                    audited=audited,
                    journal=journal,
                    documents=self.documents,
                    started=started,
                    clock=clock,
                    ledger=ledger,
                ).finish()
        finally:
            stop.set()
            journal.close()
