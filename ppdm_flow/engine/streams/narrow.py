"""Coded data held in few bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts, byte_counts, count, summed
from ppdm_flow.tables.numeric.column import NumericColumn, dtype_of
from ppdm_flow.tables.sets import Baskets, SetColumn
from ppdm_flow.tables.table import RowNumbers, Table


def fitting(width: int) -> type[np.signedinteger]:
    """Return the smallest integer type that holds codes below ``width`` and the special marks."""
    if width <= 1 << 7:
        return np.int8
    return np.int16 if width <= 1 << 15 else np.int32


@dataclass(frozen=True, slots=True, eq=False)
class NarrowColumn:
    """A column whose codes take one, two or four bytes."""

    codes: npt.NDArray[np.signedinteger]
    categories: pa.StringArray

    @classmethod
    def of(cls, column: Column) -> NarrowColumn:
        """Return the column in fewer bytes."""
        return cls(column.codes.astype(fitting(len(column.categories))), column.categories)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.codes.nbytes + self.categories.nbytes)

    def take(self, places: npt.NDArray[np.int64]) -> NarrowColumn:
        """Return the cells at some positions."""
        return NarrowColumn(self.codes[places], self.categories)

    def column(self) -> Column:
        """Return it in the form that algorithms work on."""
        return Column(self.codes.astype(np.int32), self.categories)

    def tally(self) -> npt.NDArray[np.int64] | None:
        """Return how often each dense code occurs, shape (width,); None where there may be more codes than rows."""
        if self.codes.dtype.itemsize > _FEW_BYTES:
            return None
        if self.codes.dtype == np.int8:
            counts = byte_counts(self.codes.view(np.uint8))
        else:
            counts = np.bincount(self.codes.view(np.uint16), minlength=1 << 16)
        # special marks, which are negative, come last
        return np.concatenate([counts[-SPECIALS:], counts[: len(self.categories)]])


_FEW_BYTES = 2
_HALF = 4
_PAIRS = np.stack([np.arange(256) & 15, np.arange(256) >> _HALF], axis=1).astype(np.int32) - np.int32(SPECIALS)
_PAIR = np.ascontiguousarray(_PAIRS).view(np.int64).ravel()
"""The two codes of each byte as one number: they are looked up together."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedColumn:
    """A column of so few categories that two cells fit into a byte: the first one has the lower half of it."""

    pairs: npt.NDArray[np.uint8]
    rows: int
    categories: pa.StringArray

    @classmethod
    def of(cls, column: Column) -> PairedColumn:
        """Return the column in fewer bytes; the width must not be above 16."""
        rows = len(column)
        dense = np.zeros(rows + rows % 2, dtype=np.uint8)
        np.add(column.codes, np.int32(SPECIALS), out=dense[:rows], casting="unsafe")
        both = dense.view("<u2")
        return cls((both | both >> np.uint16(_HALF)).astype(np.uint8), rows, column.categories)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.pairs.nbytes + self.categories.nbytes)

    def take(self, places: npt.NDArray[np.int64]) -> NarrowColumn:
        """Return the cells at some positions."""
        pairs = self.pairs[places // 2]
        dense = np.where(places % 2, pairs >> np.uint8(_HALF), pairs & np.uint8(15))
        return NarrowColumn(dense.astype(np.int8) - np.int8(SPECIALS), self.categories)

    def column(self) -> Column:
        """Return it in the form that algorithms work on."""
        return Column(_PAIR.take(self.pairs).view(np.int32)[: self.rows], self.categories)

    def tally(self) -> npt.NDArray[np.int64]:
        """Return how often each dense code occurs, shape (width,): both cells of a byte are counted at once."""
        both = byte_counts(self.pairs).reshape(1 << _HALF, 1 << _HALF)
        counts: npt.NDArray[np.int64] = both.sum(axis=0) + both.sum(axis=1)
        counts[0] -= self.rows % 2  # what the last byte of an odd number of rows is filled up with
        return counts[: len(self.categories) + SPECIALS]


@dataclass(frozen=True, slots=True, eq=False)
class NarrowCounts:
    """Counts on their way between processes: codes and counts take as few bytes as the largest of them needs."""

    columns: tuple[str, ...]
    categories: tuple[pa.StringArray, ...]
    codes: tuple[npt.NDArray[np.signedinteger], ...]
    counts: npt.NDArray[np.signedinteger]

    @classmethod
    def of(cls, counts: Counts) -> NarrowCounts:
        """Return the counts in fewer bytes."""
        widths = zip(counts.columns, counts.categories, strict=True)
        codes = tuple(counts.of(name).astype(fitting(len(names))) for name, names in widths)
        numbers = counts.counts
        narrow = numbers.astype(_smallest(int(numbers.min(initial=0)), int(numbers.max(initial=0))))
        return cls(counts.columns, counts.categories, codes, narrow)

    def wide(self) -> Counts:
        """Return them in the form that algorithms work on."""
        codes = np.empty((len(self.counts), len(self.columns)), dtype=np.int32)
        for place, column in enumerate(self.codes):
            codes[:, place] = column
        return Counts(self.columns, self.categories, codes, self.counts.astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class NarrowNumbers:
    """A numeric column whose whole numbers take as few bytes as the largest needs, and whose mask takes bits."""

    values: npt.NDArray[np.generic]
    kind: AttributeType
    mask: npt.NDArray[np.uint8] | None

    @classmethod
    def of(cls, column: NumericColumn) -> NarrowNumbers:
        """Return the column in fewer bytes."""
        values: npt.NDArray[np.generic] = column.values
        if values.dtype.kind == "i" and len(values):
            values = values.astype(_smallest(int(values.min()), int(values.max())))
        return cls(values, column.kind, None if column.missing is None else np.packbits(column.missing))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.values.nbytes + (0 if self.mask is None else self.mask.nbytes)

    @property
    def categories(self) -> pa.StringArray:
        """The distinct numbers as texts."""
        return self.column().categories

    def take(self, places: npt.NDArray[np.int64]) -> NarrowNumbers:
        """Return the cells at some positions."""
        mask = None if self.mask is None else np.packbits(np.unpackbits(self.mask, count=len(self.values))[places])
        return NarrowNumbers(self.values[places], self.kind, mask)

    def column(self) -> NumericColumn:
        """Return it in the form that algorithms work on."""
        values = self.values.astype(dtype_of(self.kind))
        missing = None if self.mask is None else np.unpackbits(self.mask, count=len(values)).astype(bool)
        return NumericColumn(values, self.kind, missing)


def _smallest(least: int, most: int) -> type[np.signedinteger]:
    """Return the smallest signed type that holds both."""
    sizes = (np.int8, np.int16, np.int32)
    return next((t for t in sizes if np.iinfo(t).min <= least and most <= np.iinfo(t).max), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class NarrowBaskets:
    """Baskets whose items take one, two or four bytes, and their sizes as many as the largest needs."""

    sizes: npt.NDArray[np.signedinteger]
    items: npt.NDArray[np.signedinteger]
    categories: pa.StringArray

    @classmethod
    def of(cls, column: SetColumn) -> SetColumn | NarrowBaskets:
        """Return the column in fewer bytes; packed and seeded rows stay as they are."""
        if not isinstance(column, Baskets):
            return column
        sizes = column.sizes
        narrow = sizes.astype(fitting(int(sizes.max(initial=0)) + 1))
        return cls(narrow, column.items.astype(fitting(len(column.categories))), column.categories)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.sizes.nbytes + self.items.nbytes + self.categories.nbytes)

    def column(self) -> Baskets:
        """Return it in the form that algorithms work on."""
        offsets = np.zeros(len(self.sizes) + 1, dtype=np.int64)
        np.cumsum(self.sizes, out=offsets[1:])
        return Baskets(offsets, self.items.astype(np.int32), self.categories)


def _narrow(column: Column) -> NarrowColumn | PairedColumn | NarrowNumbers:
    if isinstance(column, NumericColumn):
        return NarrowNumbers.of(column)
    return PairedColumn.of(column) if column.width <= 1 << _HALF else NarrowColumn.of(column)


def _consecutive(rows: RowNumbers) -> bool:
    """Whether each number is by 1 larger than the one before; not for no rows."""
    return len(rows) > 0 and int(rows[-1] - rows[0]) == len(rows) - 1 and bool((rows[1:] > rows[:-1]).all())


@dataclass(frozen=True, slots=True, eq=False)
class NarrowTable:
    """A partition in few bytes. ``start`` replaces row numbers that are consecutive."""

    columns: dict[str, NarrowColumn | PairedColumn | NarrowNumbers]
    rows: RowNumbers | range
    sets: dict[str, SetColumn | NarrowBaskets] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table) -> NarrowTable:
        """Return the partition in fewer bytes."""
        rows: RowNumbers | range = table.rows
        if _consecutive(table.rows):
            rows = range(int(table.rows[0]), int(table.rows[-1]) + 1)
        sets = {n: NarrowBaskets.of(s) for n, s in table.sets.items()}
        return cls({n: _narrow(c) for n, c in table.columns.items()}, rows, sets)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        rows = 0 if isinstance(self.rows, range) else self.rows.nbytes
        return rows + sum(c.nbytes for c in (*self.columns.values(), *self.sets.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, in order; those of sets come last."""
        return (*self.columns, *self.sets)

    def texts(self, name: str) -> pa.StringArray:
        """Return the categories of a column, or the alphabet of a column of sets."""
        return (self.columns[name] if name in self.columns else self.sets[name]).categories

    def __len__(self) -> int:
        return len(self.rows)

    def has_few_values(self, name: str) -> bool:
        """Whether a cell of a column takes a byte or less."""
        column = self.columns.get(name)
        return isinstance(column, PairedColumn) or (isinstance(column, NarrowColumn) and column.codes.itemsize == 1)

    def counts(self, columns: tuple[str, ...], weight: str | None) -> Counts:
        """Count the combinations of these columns, weighted; a single column is counted as it is held."""
        if len(columns) == 1 and weight is None:
            tally = self.tally(columns[0])
            if tally is not None:
                return tally.counts(columns[0])
        names = columns if weight is None else (*columns, weight)
        rows = np.zeros(len(self.rows), dtype=np.int64)  # no row's number is looked at
        return count(Table({n: self.columns[n].column() for n in names}, rows), columns, weight)

    def tally(self, name: str) -> DenseTally | None:
        """Return how often each code of a column occurs; None where it has no codes, or may have more than rows."""
        column = self.columns[name]
        if isinstance(column, NarrowNumbers):
            return None
        numbers = column.tally()
        return None if numbers is None else DenseTally(column.categories, numbers)

    def take(self, places: npt.NDArray[np.int64], names: tuple[str, ...]) -> Table:
        """Return these columns of the rows at some positions."""
        rows = self.rows[places] if not isinstance(self.rows, range) else places + self.rows.start
        sets = {n: self.sets[n] for n in names if n in self.sets}
        with_sets = NarrowTable({}, self.rows, sets).table(tuple(sets)).take(places) if sets else Table({}, rows)
        return Table({n: self.columns[n].take(places).column() for n in names if n not in sets}, rows, with_sets.sets)

    def table(self, names: tuple[str, ...]) -> Table:
        """Return these columns."""
        rows = self.rows if not isinstance(self.rows, range) else np.arange(self.rows.start, self.rows.stop)
        wanted = [n for n in names if n in self.sets]
        sets = {n: s.column() if isinstance(s := self.sets[n], NarrowBaskets) else s for n in wanted}
        return Table({n: self.columns[n].column() for n in names if n not in sets}, rows, sets)


@dataclass(frozen=True, slots=True, eq=False)
class DenseTally:
    """``numbers`` (width,) say how often each dense code of a column with these categories occurs."""

    categories: pa.StringArray
    numbers: npt.NDArray[np.int64]

    def with_later(self, later: DenseTally) -> DenseTally | None:
        """Return both added up; None where their codes have different meanings."""
        if not later.categories.equals(self.categories):
            return None
        return DenseTally(self.categories, self.numbers + later.numbers)

    def counts(self, name: str) -> Counts:
        """Return it as the counts of a column of this name."""
        present = np.flatnonzero(self.numbers)
        codes = Column((present - SPECIALS).astype(np.int32), self.categories)
        return summed(Table({name: codes}, present), [name], self.numbers[present])
