"""The chance that rows of two files belong together."""

from __future__ import annotations

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from adversary.reader.files import NotVerified, ReleasedFile, TruthExcluded
from adversary.reader.showing import Inquiry, can_hold

TOLERANCE = 1e-6
"""Scaling stops where all sums are 1 within this."""
LOOSE_TOLERANCE = 1e-3
"""What suffices after `PASSES`."""
PASSES = 10_000

Matrix = NDArray[np.float64]


class Chances:
    """Matrices of chances between the files of an inquiry, made when they are asked for."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        self._order = {f.name: n for n, f in enumerate(inquiry.files)}
        self._matrices: dict[tuple[str, str, bool], Matrix] = {}

    def between(self, one: ReleasedFile, other: ReleasedFile, *, scaled: bool) -> Matrix:
        """The chances of rows of ``one`` (axis 0) with rows of ``other``.

        ``scaled`` matters where a file lacks rows by chance: otherwise the matrix is always scaled.
        """
        if self._order[one.name] > self._order[other.name]:
            return self.between(other, one, scaled=scaled).T
        key = (one.name, other.name, scaled)
        if key not in self._matrices:
            self._matrices[key] = self._matrix(one, other, scaled=scaled)
        return self._matrices[key]

    def _matrix(self, one: ReleasedFile, other: ReleasedFile, *, scaled: bool) -> Matrix:
        start = self._start(one, other)
        sampled = one.sampled or other.sampled
        if sampled and not scaled:
            return start
        if one.table != other.table:
            return _scaled_by_reference(start, one, other)
        matrix = scale(start)
        if matrix is None and not sampled:
            raise TruthExcluded(f"{one.name} and {other.name} have no complete pairing")
        return start if matrix is None else matrix

    def _start(self, one: ReleasedFile, other: ReleasedFile) -> Matrix:
        """1 where one assignment is shown by both rows, times the shares of their mixed cells.

        Values that have changed are left out of the chance of somebody's own pair.
        """
        inquiry = self.inquiry
        start = np.zeros((len(one.rows), len(other.rows)))
        for i in range(len(one.rows)):
            for j in range(len(other.rows)):
                if can_hold([*inquiry.shown(one, i), *inquiry.shown(other, j)], {}):
                    start[i, j] = self._agreeing(one, i, other, j) * self._agreeing(other, j, one, i)
                own = set(one.rows[i].origins) & set(other.rows[j].origins)
                if start[i, j] == 0 and any(k in one.then or k in other.then for k in own):
                    start[i, j] = 1.0
        return start

    def _agreeing(self, file: ReleasedFile, row: int, other: ReleasedFile, other_row: int) -> float:
        """The share of the rows with this row's mixed cells whose known values the other row's open cells can show."""
        rows, attributes = self.inquiry.mixed_cells(file, row, virtual=True)
        shown = self.inquiry.shown(other, other_row, ("open",))
        return sum(self.inquiry.is_shown_by(file, i, attributes, shown) for i in rows) / len(rows)


def _scaled_by_reference(start: Matrix, one: ReleasedFile, other: ReleasedFile) -> Matrix:
    """Chances between linked tables: those of each row of the referring (else the smaller) table sum to 1."""
    by_rows = other.table in one.refers or (one.table not in other.refers and start.shape[0] <= start.shape[1])
    sums = start.sum(axis=1 if by_rows else 0, keepdims=True)
    return start / np.where(sums > 0, sums, 1.0)


def scale(start: Matrix) -> Matrix | None:
    """Scale rows and columns in turn to 1; None if there is no complete pairing.

    The smaller side is filled up with rows that fit all, and pairs that lie in no complete pairing become 0. Raises
    `NotVerified` if the sums do not come to 1.
    """
    height, width = start.shape
    if height > width:
        turned = scale(start.T)
        return None if turned is None else turned.T
    square = np.vstack([start, np.ones((width - height, width))])
    pairs = complete_pairs(square > 0)
    if pairs is None:
        return None
    square = np.where(pairs, square, 0.0)
    deviation = np.inf
    for _ in range(PASSES):
        square = square / square.sum(axis=1, keepdims=True)
        square = square / square.sum(axis=0, keepdims=True)
        deviation = float(abs(square.sum(axis=1) - 1).max())
        if deviation <= TOLERANCE:
            break
    if deviation > LOOSE_TOLERANCE:
        raise NotVerified("scaling did not converge")
    return square[:height]


def complete_pairs(possible: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """The pairs that lie in some complete pairing; None if there is no such pairing.

    A pair that is not in one complete pairing is in another one if an alternating cycle goes through it, so that row
    and partner lie in one strong component.
    """
    size = len(possible)
    partner = maximum_bipartite_matching(csr_array(possible.astype(np.int8)), perm_type="column")
    if (partner < 0).any():
        return None
    graph = nx.DiGraph()
    graph.add_nodes_from(range(size))
    owner = np.argsort(partner)
    graph.add_edges_from((i, int(owner[j])) for i in range(size) for j in range(size) if possible[i, j])
    component = np.zeros(size, dtype=int)
    for number, rows in enumerate(nx.strongly_connected_components(graph)):
        component[list(rows)] = number
    return possible & (component[:, None] == component[owner][None, :])
