"""The sensitive values of every equivalence class or crowd, counted, under the three null semantics.

Crowds: who is left for somebody that knows a person's grouping values, where cells mix these with sensitive ones.
Inside of a class, the crowd of a person with grouping values q is the rows whose mixed cells occur with some row of
that class whose original has the same q. Beside the crowd's shares count the mean shares of its mixed cells, weighted
by how often rows of q show each: whoever knows how a cell is made knows which of them is likelier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.compatible import compatible_sums
from ppdm_flow.mining.exposure.ground import CountedCombinations
from ppdm_flow.mining.exposure.sparse import as_cells, indicators, of_cells, scaled, summed
from ppdm_flow.mining.recoding.grouping import ClassCells
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_DENSE = 1 << 22
"""Cells of a dense matrix of classes and values that is made at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """``cells``: how often each value occurs in each class; ``sizes`` (classes,): the rows that look alike.

    Values are dense codes: 0 suppressed, 1 missing, then ``names``. ``rows`` (classes,) are the rows that belong to a
    class, with wildcards fewer than its crowd. ``base`` (values,) are the shares of the table. ``left_out`` counts
    the rows that the null semantics leave out. ``behind`` is what was decoded: counts are then sums of shares, and the
    cells that were shown are ``shown``.
    """

    cells: ClassCells
    sizes: npt.NDArray[Any]
    rows: Ints
    base: Floats
    names: pa.StringArray
    left_out: int = 0
    behind: Any = None
    shown: ClassCells | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def total(self) -> int:
        """The rows that are in some class."""
        return int(self.rows.sum())


def histograms(counts: Counts, nulls: Nulls) -> Histograms:
    """Group by all columns of ``counts`` but the last, which is the sensitive one.

    ``own_category``: missing is one more value. ``wildcard``: a class is a crowd, the rows that contradict it nowhere
    in the grouping columns and are missing wherever it is; a missing sensitive value is one more value. ``exclude``:
    rows with a missing cell are left out.
    """
    occurs = counts.counts > 0
    left_out = 0
    if nulls is Nulls.EXCLUDE:
        known = ~(counts.codes == MISSING).any(axis=1)
        left_out = int(counts.counts[~known].sum())
        occurs &= known
    codes, rows = counts.codes[occurs], counts.counts[occurs]
    value = codes[:, -1] + np.int32(SPECIALS)
    names = counts.categories[-1]
    total = _added(value.astype(np.int64), rows, len(names) + SPECIALS)
    base = total / max(1, int(rows.sum()))
    first = _first(codes[:, :-1])
    begins = np.append(first, len(rows)).astype(np.int64)
    own = np.add.reduceat(rows, first) if len(rows) else np.zeros(0, dtype=np.int64)
    cells = ClassCells(begins, value, rows)
    if nulls is Nulls.WILDCARD and (codes[:, :-1] == MISSING).any():
        cells = _crowds(codes[first, :-1], cells, len(base))
        return Histograms(cells, _sums(cells), own, base, names)
    return Histograms(cells, own, own, base, names, left_out)


def _first(codes: npt.NDArray[np.int32]) -> Ints:
    """Return the place of each class's first combination: combinations come in order of their codes."""
    if not len(codes):
        return np.zeros(0, dtype=np.int64)
    new = np.zeros(len(codes), dtype=np.bool_)
    new[0] = True
    for column in codes.T:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def _crowds(classes: npt.NDArray[np.int32], cells: ClassCells, values: int) -> ClassCells:
    """Return the cells of the crowd of each class, a block of values at a time."""
    owner, parts = cells.owner, []
    step = max(1, _DENSE // max(1, len(classes)))
    for start in range(0, values, step):
        here = (cells.value >= start) & (cells.value < start + step)
        dense = np.zeros((len(classes), min(step, values - start)), dtype=np.int64)
        dense[owner[here], cells.value[here] - start] = cells.count[here]
        summed = compatible_sums(classes, dense)
        which, value = np.nonzero(summed)
        parts.append((which, value + start, summed[which, value]))
    which, value, count = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((value, which))
    begins = np.searchsorted(which[order], np.arange(len(classes) + 1))
    return ClassCells(begins.astype(np.int64), value[order].astype(np.int32), count[order])


def _sums(cells: ClassCells) -> Ints:
    total = np.concatenate([[0], np.cumsum(cells.count)])
    return np.asarray(total[cells.begins[1:]] - total[cells.begins[:-1]], dtype=np.int64)


def _added(place: Ints, rows: Ints, size: int) -> Ints:
    """Exact sums: weights may lie beyond what floats count."""
    if int(rows.sum()) < 1 << 53:
        return np.bincount(place, rows, size).astype(np.int64)
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, place, rows)
    return sums


class MixedCrowds:
    """The crowds of a ground with mixed columns. ``sizes`` and ``rows`` (crowds,): those in it, those who have it."""

    def __init__(self, ground: CountedCombinations) -> None:
        layout = ground.layout
        self.ground = ground
        self.crowd = ground.number(layout.grouping, layout.originals)
        self.part = ground.number(layout.grouping, layout.mixed)
        shape = int(self.crowd.max(initial=-1)) + 1, int(self.part.max(initial=-1)) + 1
        self._weights = summed(ground.rows, self.crowd, self.part, shape)
        self._there = indicators(self._weights)
        self._parts = np.bincount(self.part, ground.rows, shape[1])
        self.rows: Ints = np.rint(np.asarray(self._weights.sum(axis=1))).astype(np.int64)
        self.sizes: Ints = np.rint(self._there @ self._parts).astype(np.int64)

    def histograms(self, value: npt.NDArray[np.int32], names: Any) -> tuple[Histograms, Histograms]:
        """Return the histograms of the crowds, and the mean shares of their mixed cells, as of crowds of one row.

        ``value`` (combinations,) are codes into ``names``.
        """
        ground = self.ground
        dense = value.astype(np.int64) + SPECIALS
        shape = len(self._parts), len(names) + SPECIALS
        cells = summed(ground.rows, self.part, dense, shape)
        base = np.bincount(dense, ground.rows, shape[1]) / max(1, int(ground.rows.sum()))
        crowd = Histograms(as_cells(self._there @ cells), self.sizes, self.rows, base, names, ground.left_out)
        within = scaled(cells, 1.0 / np.maximum(self._parts, 1.0))
        mean = scaled(self._weights, 1.0 / np.maximum(self.rows, 1)) @ within
        ones = np.ones(len(self.rows))
        return crowd, Histograms(as_cells(mean), ones, self.rows, base, names, ground.left_out)


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """What a cell stands for: how likely each value of the source is, among the released rows that show the cell.

    ``shares`` (cells, values) is P(value | cell), sparse; values are dense codes into ``names``.
    """

    shares: Any
    names: pa.StringArray

    @classmethod
    def of(cls, cell: Ints, value: npt.NDArray[np.int32], rows: Ints, names: pa.StringArray) -> Code:
        """Learn it from the rows of each (cell, value); ``value`` are codes, ``cell`` are numbers from 0."""
        shape = int(cell.max(initial=-1)) + 1, len(names) + SPECIALS
        together = summed(rows, cell, value.astype(np.int64) + SPECIALS, shape)
        totals = np.bincount(cell, rows, shape[0])
        return cls(scaled(together, 1.0 / np.maximum(totals, 1.0)), names)

    @property
    def ambiguous(self) -> bool:
        """Whether some value is behind several cells: then the rows that show them share it."""
        return bool((np.bincount(self.shares.indices, minlength=self.shares.shape[1]) > 1).any())

    def decoded(self, by_cell: Histograms) -> Histograms:
        """Return the histograms of values for those of cells, whose numbers are their codes."""
        cells = by_cell.cells
        shown = of_cells(cells, self.shares.shape[0], SPECIALS)
        base = np.asarray(by_cell.base[SPECIALS:] @ self.shares)
        return replace(
            by_cell, cells=as_cells(shown @ self.shares), base=base, names=self.names, behind=self, shown=cells
        )
