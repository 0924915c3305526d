"""Which steps of a run changed something: a cell, the rows, their order, or the columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.stream import Stream, StreamPart
from ppdm_flow.plan.definition import Plan, StepNode
from ppdm_flow.tables.column import union
from ppdm_flow.tables.table import Table, concat


def changed_steps(plan: Plan, graph: Graph) -> Iterator[str]:
    """Yield the steps whose output is not their input. Meant for small tables: each is held whole."""
    for node in plan.steps:
        before = list(_input(node, graph).parts())
        names = [n for n in graph.streams if n == node.name or n.startswith(f"{node.name}.")]
        if any(_differ(before, list(graph.streams[name].parts())) for name in names):
            yield node.name


def _input(node: StepNode, graph: Graph) -> Stream:
    stream = graph.streams[node.input]
    weighted = any(a.role is Role.WEIGHT for a in stream.attributes)
    return graph.engine.expanded(stream, graph.numbering) if node.expands and weighted and graph.numbering else stream


def _differ(before: list[StreamPart], after: list[StreamPart]) -> bool:
    if not before or not after:
        return bool(before) != bool(after)
    if any(p.keys is not None for p in after) and all(p.keys is None for p in before):
        return True
    old, new = concat(p.table for p in before), concat(p.table for p in after)
    if old.names != new.names or not np.array_equal(old.rows, new.rows):
        return True
    return any(_cells_differ(old, new, name) for name in old.columns) or _sets_differ(old, new)


def _cells_differ(old: Table, new: Table, name: str) -> bool:
    known = union(t[name].categories for t in (old, new))
    return not np.array_equal(old[name].onto(known).codes, new[name].onto(known).codes)


def _sets_differ(old: Table, new: Table) -> bool:
    return any(old.sets[name] is not new.sets[name] for name in old.sets)
