"""Run a plan: read, transform, write, read back, audit, judge, and release or withhold."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from ppdm_flow.core.results import Report
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.events import EventJournal, Listener, ignore_events
from ppdm_flow.engine.faults import output_fault
from ppdm_flow.engine.ledger.ledger import open_ledger
from ppdm_flow.engine.machine import keep_freed_memory, utc_now
from ppdm_flow.engine.options import RunContext, RunOptions, RunOutcome
from ppdm_flow.engine.run.carry_out import audited_run, open_original
from ppdm_flow.engine.run.finishing import Beside, Companions, Documents, FinishedRun
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.steps.keys import check_escrow
from ppdm_flow.engine.streams.workers import arrow_threads
from ppdm_flow.plan.definition import Plan

EVENTS = "events.jsonl"


def no_documents(_report: Report) -> Mapping[str, str]:
    """Make none."""
    return {}


def no_companions(_report: Report, _release: str, _beside: Beside) -> Mapping[str, str]:
    """Make none."""
    return {}


def execute(
    plan: Plan,
    data: Path | None,
    out: Path,
    options: RunOptions | None = None,
    listener: Listener = ignore_events,
    documents: Documents = no_documents,
    companions: Companions = no_companions,
) -> RunOutcome:
    """Execute ``plan`` on ``data`` (else on the policy's own files), into ``out/<policy>/<time>-<plan digest>/``.

    Raises DataError or PluginError where the input is at fault, RunError where the tool or the machine failed; then,
    and when it is interrupted, nothing is left behind.
    """
    chosen = options or RunOptions()
    check_escrow(chosen.escrow)
    keep_freed_memory()
    directory = RunDirectory(out / plan.policy)
    try:
        started, clock = utc_now(), time.perf_counter()
        journal = EventJournal(directory.home / EVENTS, listener)
        with closing(journal), arrow_threads(chosen.workers), RunContext(plan, chosen, journal) as context:
            ledger = open_ledger(plan)

            def neighbours(_candidates: Sequence[Candidate], _graph: Graph) -> None:
                if ledger:
                    ledger.check_neighbours(directory.parent)

            context.engine.check(directory.home)
            original = open_original(context, data)
            with audited_run(context, original, directory, ledger, neighbours) as audited:
                return FinishedRun(audited, directory, journal, documents, companions, ledger, started, clock).outcome()
    except OSError as error:
        raise output_fault(error, "the run's directory") from None
    finally:
        directory.discard()
