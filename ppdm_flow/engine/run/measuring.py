"""A run that only measures: the same steps, candidate files and audits, and nothing is ever released."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.context import RunContext
from ppdm_flow.engine.faults import output_fault
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.ledger.ledger import open_ledger
from ppdm_flow.engine.reading.original import Original, asked_of
from ppdm_flow.engine.run.stages import Look, audited_run, ignore_candidates
from ppdm_flow.engine.streams.lookalikes import lookalike_checks
from ppdm_flow.engine.streams.named_values import value_presence
from ppdm_flow.plan.definition import Plan


def reading_of(plan: Plan) -> str:
    """Return a text that is the same for two plans of one policy exactly where they read and check the data alike."""
    looked_for = [(w.facts.name, sorted(w.spans)) for w in lookalike_checks(plan.requirements, plan.source.attributes)]
    present = value_presence(plan.requirements, plan.source.attributes, {})
    looked_for += [(values.facts.name, sorted(values.required)) for values in present]
    return repr((plan.source, sorted(asked_of(plan)), looked_for, any(n.expands for n in plan.steps)))


def measure(context: RunContext, original: Original, scratch: Path, look: Look = ignore_candidates) -> JudgedResults:
    """Carry out the plan in a private folder below ``scratch`` that is gone afterwards, and judge what it made.

    Any number of plans with the same :func:`reading_of` can be measured on one original. Raises DataError, PluginError
    or RunError. Neither the candidates nor the key outlive the call; no ledger is written to.
    """
    clock = time.perf_counter()
    directory = RunDirectory(scratch)
    try:
        with audited_run(context, original, directory, open_ledger(context.plan), look) as audited:
            results = audited.judged()
        original.unchanged()
    except OSError as error:
        raise output_fault(error, "the folder for what is only measured") from None
    finally:
        directory.discard()
    # a sweep keeps the results of all its points, and no report is made of them
    return replace(results, steps=(), charts=(), seconds=time.perf_counter() - clock)
