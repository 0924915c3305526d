"""One channel while values are disclosed: the arrays behind the kernel, with room for what is to come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.progressive_disclosure import kernel, prospect
from ppdm_flow.anonymizers.progressive_disclosure.candidates import Candidates, collapsed, sums
from ppdm_flow.anonymizers.progressive_disclosure.problem import Channel, Problem, Template
from ppdm_flow.anonymizers.progressive_disclosure.state import (
    LEAST,
    MASS,
    NONE,
    SPARE_CELLS,
    USED_CELLS,
    USED_GROUPS,
    Counts,
    Floats,
    Places,
    State,
)
from ppdm_flow.core.requirement import TOLERANCE

_FIXED = ("mass", "rows", "begin", "end", "local", "child_begin", "children")


@dataclass(slots=True, eq=False)
class Groups:
    """The groups over a channel. Begins with everything suppressed."""

    templates: tuple[Template, ...]
    bounds: npt.NDArray[np.float64]
    least: int
    state: State

    @classmethod
    def of(cls, problem: Problem, channel: Channel, candidates: Candidates) -> Groups:
        """Collapse the problem's combinations to those that differ within this channel, and set up."""
        state = _state(problem, channel, candidates)
        bounds = np.array([t.confidence for t in channel.templates], dtype=np.float64)
        return cls(channel.templates, bounds + TOLERANCE, channel.least, state)

    @property
    def confidence(self) -> npt.NDArray[np.float64]:
        """The highest confidence of each template in any group, shape (templates,)."""
        return self.state.confidence

    @property
    def smallest(self) -> int:
        """The rows of the smallest group."""
        return int(self.state.counters[LEAST])

    def concerns(self, candidate: int) -> bool:
        """Whether the candidate's attribute belongs to the channel."""
        return bool(self.state.local[candidate] >= 0)

    def live(self) -> tuple[Counts, Counts]:
        """Rows (groups,) and hits (groups, templates) of the groups that there are."""
        mass = self.state.groups[: int(self.state.counters[USED_GROUPS]), MASS:]
        mass = mass[mass[:, 0] > 0]
        return mass[:, 0], mass[:, 1:]

    def disclose(self, candidate: int) -> None:
        """Split the groups."""
        if self.concerns(candidate):
            self._reserve(candidate)
            kernel.disclose(self.state, candidate)

    def drop(self, candidate: int) -> None:
        """Forget a candidate that may never be disclosed any more."""
        kernel.drop(self.state, candidate)

    def rises(self, candidates: Places, count: int, rise: Floats) -> None:
        """Add to ``rise`` (count,) what disclosing each candidate raises confidences by: at least, and mostly so."""
        prospect.rises(self.state, candidates, count, rise)

    def look(self, candidate: int, rise: float) -> float:
        """Return ``rise`` and what disclosing the candidate raises confidences by; -1 where a bound would break."""
        return prospect.look(self.state, candidate, self.bounds, self.least, rise)

    def copy(self) -> Groups:
        """Return a state that goes its own way."""
        parts = {n: a if n in _FIXED else a.copy() for n, a in self.state._asdict().items()}
        return Groups(self.templates, self.bounds, self.least, State(**parts))

    def _reserve(self, candidate: int) -> None:
        """Make room for what a disclosure may need.

        A group, and each of its cells, is divided in two at most; children take a cell for each combination at most.
        """
        s, used = self.state, self.state.counters
        rows = int(s.end[candidate] - s.begin[candidate])
        leaf = s.child_begin[candidate] == s.child_begin[candidate + 1]
        groups, cells, spare = (int(used[i]) for i in (USED_GROUPS, USED_CELLS, SPARE_CELLS))
        more = min(rows * s.cell.shape[1], cells - spare + (0 if leaf else rows))
        self.state = s._replace(
            groups=_enlarged(s.groups, groups + min(rows, groups)),
            cells=_enlarged(s.cells, cells + max(0, more - spare)),
        )


def _enlarged(table: Counts, size: int) -> Counts:
    if size <= len(table):
        return table
    enlarged = np.empty((max(size, 2 * len(table)), table.shape[1]), dtype=np.int64)
    enlarged[: len(table)] = table
    return enlarged


def _state(problem: Problem, channel: Channel, candidates: Candidates) -> State:
    own = [problem.attributes[a] for a in channel.attributes]
    cell, first = collapsed([channel.base, *(a.codes for a in own)])
    size, templates = len(first), len(channel.templates)
    mass = np.empty((size, 1 + templates), dtype=np.int64)
    mass[:, 0] = sums(cell, problem.weights, size)
    for t, template in enumerate(channel.templates):
        mass[:, 1 + t] = sums(cell, np.where(template.hits, problem.weights, 0), size)
    rows, begin, end, local = _ranges(problem, channel, candidates, first)
    base = channel.base[first].astype(np.int32)
    groups = int(base.max(initial=-1)) + 1
    room = sum(
        min(size, groups * int((candidates.topmost & (candidates.attribute == a)).sum())) for a in channel.attributes
    )
    wide = len(candidates)

    table = np.zeros((groups, MASS + 1 + templates), dtype=np.int64)
    most = np.iinfo(np.int64).max
    state = State(
        mass=mass,
        rows=rows,
        begin=begin,
        end=end,
        local=local,
        child_begin=candidates.child_begin,
        children=candidates.children,
        group=np.zeros(size, dtype=np.int32),
        cell=np.full((size, len(own)), NONE, dtype=np.int32),
        first=np.full(wide, NONE, dtype=np.int64),
        after=np.zeros((wide, templates)),
        smallest=np.full(wide, most),
        witness=np.full((wide, 2 + templates), NONE, dtype=np.int64),
        confidence=np.zeros(templates),
        counters=np.array([0, NONE, 0, NONE, groups, 0, most]),
        groups=table,
        cells=np.empty((room, table.shape[1]), dtype=np.int64),
    )
    kernel.begin(state, base, np.flatnonzero(candidates.topmost).astype(np.int32))
    return state


def _ranges(
    problem: Problem, channel: Channel, candidates: Candidates, first: npt.NDArray[np.int64]
) -> tuple[Places, Counts, Counts, Places]:
    """Sort the combinations by each attribute's leaves: candidates are ranges then."""
    wide = len(candidates)
    begin, end = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    local = np.full(wide, NONE, dtype=np.int32)
    rows = np.zeros((len(channel.attributes), len(first)), dtype=np.int32)
    for place, a in enumerate(channel.attributes):
        tree, codes = problem.attributes[a].tree, problem.attributes[a].codes[first]
        at = np.where(codes >= 0, np.append(tree.place, 0)[codes], len(tree.place))  # stuck cells go last
        rows[place] = np.argsort(at, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=len(tree.place) + 1))])
        mine = candidates.range(a)
        begin[mine], end[mine], local[mine] = bounds[tree.low], bounds[tree.high], place
    return rows, begin, end, local
