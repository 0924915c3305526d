"""Fitting, before a run, the steps that choose their parameters for a requirement on sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.engine.events import ignore_events
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.steps.keys import run_key
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import Plan


def unreachable_requirements(plan: Plan, original: Original, partition_rows: int, stop: Stop) -> Iterator[Diagnostic]:
    """Yield why a requirement on itemsets cannot be reached: its step is fitted, with the row-wise ones before it.

    Nothing is randomized or written: only the choice of parameters is tried.
    """
    requirements = {r.id: r for r in plan.requirements if r.needs_operator and r.on_sets}
    for node in plan.steps:
        served = [requirements[i] for i in node.effect.serves if i in requirements]
        way = plan.upstream(node.name)
        if not served or any(n.bound.info.kind is not Kind.ROW_WISE for n in way):
            continue
        key = run_key(plan, None)
        graph = Graph(
            replace(plan, steps=way), key, original.stream, original.numbering, partition_rows, stop, ignore_events
        )
        try:
            graph.fit(1)
        except PluginError as error:
            yield from (replace(d, span=d.span or served[0].span) for d in error.diagnostics)
