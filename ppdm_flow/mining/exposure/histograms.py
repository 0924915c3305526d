"""The sensitive values of every equivalence class or crowd, counted, under the three null semantics.

A crowd is the people left for an adversary who knows a person's grouping values, where cells mix these with sensitive
ones. Inside of a class, the crowd of a person with grouping values q is the rows whose mixed cells occur with some row
of that class whose original has the same q. Beside the crowd's shares count the mean shares of its mixed cells,
weighted by how often rows of q show each: an adversary who knows how a cell is made knows which of them is likelier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import maximum_bipartite_matching, maximum_flow

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.recoding.grouping import ClassCells
from ppdm_flow.reader.compatible import compatible_rows
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numbering import joined

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
        own_cells: Any = csr_array((rows, value, begins), shape=(len(own), len(base)))
        cells = as_cells(compatible_rows(codes[first, :-1], own_cells))
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
    """The values behind a cell: how likely each value of the source is, among the released rows that show the cell.

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


# Released rows counted by everything that a requirement looks at: grouping, originals, mixed cells, shown cells.


@dataclass(frozen=True, slots=True)
class CountLayout:
    """The layout of the counts' columns: places of grouping and mixed columns, shown cells, originals, own value.

    Last comes the person, where people are counted. Cells ``beside`` these may tell which rows are one person's.

    ``released`` and ``original`` are the columns that are asked for; ``known`` those that must not be missing where
    missing values are left out.
    """

    released: tuple[str, ...]
    original: tuple[str, ...]
    known: tuple[str, ...]
    grouping: range
    mixed: range
    shown: range
    originals: range
    value: int | None
    person: int | None = None
    beside: range = range(0)

    @classmethod
    def of(
        cls,
        columns: RevealingColumns,
        reading: ValueColumns | None,
        leading: int,
        nulls: Nulls,
        *,
        values_known: bool = True,
        subject: str | None = None,
        beside: Sequence[str] = (),
    ) -> CountLayout:
        """Lay the columns out; ``leading`` further ones that form classes come first.

        ``values_known``: where missing values are left out, rows that miss a sensitive cell are left out as well.
        ``subject`` is the attribute that says whose row it is, where people are counted.
        """
        shown = () if reading is None else reading.shown
        own = () if reading is None or reading.way is ReadingMethod.SHOWN else (reading.attribute,)
        known = columns.known if columns.mixed else ()
        groups, mixed = leading + len(columns.grouping), len(columns.mixed)
        after = groups + mixed + len(shown)
        start = after + len(beside)
        needed = (*columns.every, *(shown if values_known else ())) if nulls is Nulls.EXCLUDE else ()
        return cls(
            released=(*columns.every, *shown, *beside),
            original=(*known, *own, *(() if subject is None else (subject,))),
            known=needed,
            grouping=range(groups),
            mixed=range(groups, groups + mixed),
            shown=range(groups + mixed, after),
            originals=range(start, start + len(known)),
            value=start + len(known) if own else None,
            person=None if subject is None else start + len(known) + len(own),
            beside=range(after, start),
        )

    def must_be_known(self, leading: int) -> list[int]:
        """Return the places of the columns that must not be missing."""
        return [leading + i for i, c in enumerate(self.released) if c in self.known]


@dataclass(frozen=True, slots=True, eq=False)
class CountedCombinations:
    """``codes`` (combinations, columns) and ``rows`` (combinations,), in the columns of ``layout``."""

    layout: CountLayout
    codes: npt.NDArray[np.int32]
    rows: Ints
    categories: tuple[pa.StringArray, ...]
    left_out: int = 0

    def number(self, *places: Sequence[int]) -> Ints:
        """Number the combinations by their cells in these columns, from 0."""
        numbers = np.zeros(len(self.rows), dtype=np.int64)
        for place in (p for each in places for p in each):
            numbers = joined(numbers, self.codes[:, place].astype(np.int64) + SPECIALS)
        return numbers

    def collapsed(self, places: Sequence[int], value: npt.NDArray[np.int32], names: pa.StringArray) -> Counts:
        """Count by these columns, and by one more of codes into ``names``, which comes last."""
        every = tuple(str(i) for i in range(len(places) + 1))
        categories = (*(self.categories[p] for p in places), names)
        codes = np.column_stack([*(self.codes[:, p] for p in places), value]).astype(np.int32)
        return Counts(every, categories, codes.reshape(len(self.rows), len(every)), self.rows).project(every)


def ground(rows: CountedRows, layout: CountLayout) -> CountedCombinations:
    """Count the rows, without those that the null semantics leave out."""
    counts = rows.counts(layout.released, layout.original)
    kept = counts.counts > 0
    needed = layout.must_be_known(rows.leading)
    left_out = 0
    if needed:
        known = ~(counts.codes[:, needed] == MISSING).any(axis=1)
        left_out = int(counts.counts[~known].sum())
        kept &= known
    return CountedCombinations(layout, counts.codes[kept], counts.counts[kept], counts.categories, left_out)


# Sparse matrices of counts and shares.


def summed(values: npt.NDArray[Any], row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    """Return the matrix (CSR, float64) of sums by row and column."""
    matrix: Any = csr_array((values.astype(np.float64), (row, column)), shape=shape)
    matrix.sum_duplicates()
    return matrix


def of_cells(cells: ClassCells, columns: int, first: int) -> Any:
    """Return cells as a matrix (classes, columns); ``first`` is the value in column 0."""
    shape = len(cells.begins) - 1, columns
    return csr_array((cells.count.astype(np.float64), cells.value - first, cells.begins), shape=shape)


def as_cells(matrix: Any) -> ClassCells:
    """Return a matrix (classes, values) as cells, values in order, without zeros."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return ClassCells(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)


def scaled(matrix: Any, by: npt.NDArray[np.float64]) -> Any:
    """Return the matrix with each row multiplied by a number of its own."""
    out = matrix.copy()
    out.data = out.data * np.repeat(by, np.diff(out.indptr))
    return out


def indicators(matrix: Any) -> Any:
    """Return the matrix with 1 where there is something."""
    out = matrix.copy()
    out.data = np.ones_like(out.data)
    return out


def largest_flow(source: Ints, target: Ints, capacity: Ints, nodes: int) -> Ints:
    """Return what of a largest flow from the first node to the last leaves the first one, by where it goes (nodes,)."""
    form: Any = csr_array
    graph = form((capacity.astype(np.int32), (source, target)), shape=(nodes, nodes), dtype=np.int32)
    leaving = maximum_flow(graph, 0, nodes - 1).flow[[0]]
    return np.bincount(leaving.indices, leaving.data, nodes).astype(np.int64)


def stacked(matrices: Sequence[Any]) -> Any:
    """Return the rows of matrices of one width, one after another."""
    return vstack(list(matrices), format="csr")


def largest_matching(left: Ints, right: Ints) -> Ints:
    """Return, for each left node, the right one that a largest matching gives it, -1 for none; edges are pairs."""
    form: Any = csr_array
    shape = int(left.max(initial=-1)) + 1, int(right.max(initial=-1)) + 1
    graph = form((np.ones(len(left), dtype=np.int32), (left, right)), shape=shape, dtype=np.int32)
    return np.asarray(maximum_bipartite_matching(graph, perm_type="column"), dtype=np.int64)


# The values of a sensitive attribute in every class, and row by row, as the release tells them: the first route.


@dataclass(frozen=True, slots=True, eq=False)
class ValueHistograms:
    """``histograms`` are those of all classes, or of all crowds; ``mean`` those of the mixed cells, if any."""

    reading: ValueColumns
    histograms: Histograms
    mean: Histograms | None = None


def values(
    columns: RevealingColumns,
    ways: Iterable[ValueColumns],
    rows: CountedRows,
    nulls: Nulls,
    *,
    values_known: bool = True,
) -> list[ValueHistograms]:
    """Return the values by each of the ways. Raises UnmeasuredError where these null semantics have no crowds."""
    return [_read(columns, way, rows, nulls, values_known=values_known) for way in ways]


def _read(
    columns: RevealingColumns, reading: ValueColumns, rows: CountedRows, nulls: Nulls, *, values_known: bool
) -> ValueHistograms:
    require_pairs_of_nulls(columns, nulls)
    layout = CountLayout.of(columns, reading, rows.leading, nulls, values_known=values_known)
    return read(ground(rows, layout), reading, nulls)


def read(counted: CountedCombinations, reading: ValueColumns, nulls: Nulls) -> ValueHistograms:
    """Return the values of counted rows by one way."""
    layout = counted.layout
    code: Code | None = None
    if reading.way is ReadingMethod.SHOWN:
        value, names = counted.codes[:, layout.shown[0]], counted.categories[layout.shown[0]]
    elif layout.value is not None:
        value, names = counted.codes[:, layout.value], counted.categories[layout.value]
        if reading.way is ReadingMethod.DECODED:
            cell = counted.number(layout.shown)
            code = Code.of(cell, value, counted.rows, names)
            value, names = cell.astype(np.int32), _numbers(code)
    crowd, mean = _histograms(counted, value, names, nulls)
    if code is None:
        return ValueHistograms(reading, crowd, mean)
    return ValueHistograms(reading, code.decoded(crowd), None if mean is None else code.decoded(mean))


def _histograms(
    counted: CountedCombinations, value: npt.NDArray[np.int32], names: pa.StringArray, nulls: Nulls
) -> tuple[Histograms, Histograms | None]:
    if len(counted.layout.mixed):
        return MixedCrowds(counted).histograms(value, names)
    grouped: Sequence[int] = counted.layout.grouping
    semantics = Nulls.WILDCARD if nulls is Nulls.WILDCARD else Nulls.OWN_CATEGORY  # what is left out is so already
    own = histograms(counted.collapsed(grouped, value, names), semantics)
    return Histograms(own.cells, own.sizes, own.rows, own.base, names, counted.left_out), None


def _numbers(code: Code) -> pa.StringArray:
    """Return names for cells that are numbers."""
    return pa.array(np.arange(code.shares.shape[0]).astype(str), pa.string())
