"""A run that only measures: the same steps, candidate files and audits, and nothing is ever released."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.results import Figure, Finding, RequirementResult
from ppdm_flow.engine.candidates.building import Candidate, CandidateBuilder
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.faults import output_fault
from ppdm_flow.engine.judging.judging import findings_of, gates_of, metrics_of, requirements_of, verdict
from ppdm_flow.engine.ledger.histories import of_run
from ppdm_flow.engine.ledger.ledger import locked_ledger, open_ledger
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.reading.original import Opening, Original, asked_of
from ppdm_flow.engine.reading.repeating import findings as repeating
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.steps.keys import run_key
from ppdm_flow.engine.streams.lookalikes import lookalike_checks
from ppdm_flow.engine.streams.named_values import value_presence
from ppdm_flow.engine.streams.source import Budget
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import Plan


@dataclass(frozen=True, slots=True)
class RunMeasurements:
    """What a run would have reported: its verdict, what was judged, every figure by its full name."""

    verdict: str
    requirements: tuple[RequirementResult, ...]
    gates: tuple[RequirementResult, ...]
    metrics: Mapping[str, Figure]
    seconds: float
    findings: tuple[Finding, ...] = ()


Look = Callable[[Sequence[Candidate], Graph], None]
"""Sees the candidates, and the steps that made them, while they are there."""


def ignore_candidates(_candidates: Sequence[Candidate], _graph: Graph) -> None:
    """Look at nothing."""


def reading_of(plan: Plan) -> str:
    """Return a text that is the same for two plans of one policy exactly where they read and check the data alike."""
    looked_for = [(w.facts.name, sorted(w.spans)) for w in lookalike_checks(plan.requirements, plan.source.attributes)]
    present = value_presence(plan.requirements, plan.source.attributes, {})
    looked_for += [(values.facts.name, sorted(values.required)) for values in present]
    return repr((plan.source, sorted(asked_of(plan)), looked_for, any(n.expands for n in plan.steps)))


def opened(
    plan: Plan, data: Path | None, options: RunOptions, stop: Stop, listener: Listener = ignore_events
) -> Original:
    """Read the original, for any number of measurements with the same :func:`reading_of`. Raises DataError."""
    budget = Budget(options.memory_limit)
    return Opening(plan, data, options.partition_rows, budget, stop, listener, options.workers).open()


def measure(
    plan: Plan,
    original: Original,
    scratch: Path,
    options: RunOptions,
    stop: Stop,
    listener: Listener = ignore_events,
    look: Look = ignore_candidates,
) -> RunMeasurements:
    """Carry out ``plan`` in a private folder below ``scratch`` that is gone afterwards, and judge what it made.

    ``look`` is shown the candidates before their audits. Raises DataError, PluginError or RunError. Neither the
    candidates nor the key outlive the call.
    """
    clock = time.perf_counter()
    directory = RunDirectory(scratch)
    try:
        graph = Graph(
            plan,
            run_key(plan, options.key),
            original.stream,
            original.numbering,
            options.partition_rows,
            stop,
            listener,
        )
        graph.fit(options.workers)
        budget = Budget(options.memory_limit)
        releasing = CandidateBuilder(plan, graph, original, directory, options, budget, stop, listener)
        candidates, ledger = releasing.write(), open_ledger(plan)
        look(candidates, graph)
        with locked_ledger(ledger):  # held against it, and not written down: nothing is released here
            audited = releasing.audit(candidates, ledger.histories(candidates) if ledger else of_run(plan, candidates))
        steps = graph.results()
        metrics = metrics_of(plan, audited, steps)
        original.unchanged()
    except OSError as error:
        raise output_fault(error, "the folder for what is only measured") from None
    finally:
        directory.discard()
    requirements, gates = requirements_of(plan, audited), gates_of(plan, metrics)
    seconds = time.perf_counter() - clock
    judged = verdict((*requirements, *gates))
    findings = (*repeating(original.repeats), *findings_of(plan, audited, steps))
    return RunMeasurements(judged, requirements, gates, metrics, seconds, findings)
