"""What audits of one release are told of the others of the run, which the same people may read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ppdm_flow.engine.judging.auditing import Subject
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.stream import Stream
from ppdm_flow.plan.definition import Plan, ReleaseNode
from ppdm_flow.plan.together import read_together
from ppdm_flow.sdk.audit import Other

Rows = npt.NDArray[np.int64]


def other_releases(plan: Plan, graph: Graph, subjects: Mapping[str, Subject]) -> dict[str, tuple[Other, ...]]:
    """Return the other releases for each release whose rows are those of people, numbered alike."""
    others = {name: _other(plan, graph, subject) for name, subject in subjects.items() if subject.pairs is not None}
    if len(others) < 2 or not read_together(plan):
        return {}
    expanded = {name: graph.expanded(subjects[name].release.input) for name in others}
    return {
        name: tuple(other for n, other in others.items() if n != name and other and expanded[n] == expanded[name])
        for name in others
    }


def _other(plan: Plan, graph: Graph, subject: Subject) -> Other | None:
    if subject.pairs is None:
        return None
    release = subject.release
    return Other(
        name=release.name,
        attributes={a.name: a for a in release.attributes},
        candidate=subject.candidate,
        pairs=subject.pairs,
        left_out_at_random=left_out_at_random(plan, graph, release),
    )


def left_out_at_random(plan: Plan, graph: Graph, release: ReleaseNode) -> Rows:
    """Return the numbers of the rows that random steps on the way to a release left out, by draws alone, ascending."""
    row_numbers = [np.zeros(0, dtype=np.int64)]
    for node in plan.upstream(release.input):
        if node.effect.rows == "fewer" and node.randomized and not node.effect.by_others:
            before, after = _numbers(graph.streams[node.input]), _numbers(graph.streams[node.name])
            row_numbers.append(np.setdiff1d(before, after))
    return np.unique(np.concatenate(row_numbers))


def _numbers(stream: Stream) -> Rows:
    parts = [part.table.rows for part in stream.parts([])]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
