"""Distinct combinations with their counts, which are all that most algorithms need of data of any size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.column import SPECIALS, Column, stacked_texts, union
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_KEY_LIMIT = 1 << 62
_DENSE_LIMIT = 1 << 22
_CACHED = 1 << 16
"""So many keys have their table of hashes in the processor's caches."""
_SAMPLE = 1 << 13
"""About how many keys of more are looked at before all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """``codes`` (combinations, columns) int32, ``counts`` (combinations,) int64, sorted by code, first column first.

    Categories are sorted by text, so the order does not depend on the order of rows or on partitions. Codes below
    zero are the special marks of :mod:`ppdm_flow.tables.column`. With a weight column, counts are sums of weights.
    """

    columns: tuple[str, ...]
    categories: tuple[pa.StringArray, ...]
    codes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def total(self) -> int:
        """The number of rows (the sum of weights)."""
        return int(self.counts.sum())

    def place(self, column: str) -> int:
        """Return the position of ``column``."""
        return self.columns.index(column)

    def of(self, column: str) -> npt.NDArray[np.int32]:
        """Return the codes of one column, shape (combinations,)."""
        return self.codes[:, self.place(column)]

    def names(self, column: str) -> pa.StringArray:
        """Return the categories of one column."""
        return self.categories[self.place(column)]

    def code(self, column: str, value: str) -> int | None:
        """Return the code of ``value`` in ``column``, or None where it does not occur."""
        code = self.names(column).index(pa.scalar(value, pa.string())).as_py()
        return None if code < 0 else int(code)

    def groups(self, columns: Sequence[str]) -> tuple[npt.NDArray[np.int64], int]:
        """Number the combinations by their cells in ``columns``: (group of each combination, number of groups)."""
        if not columns:
            return np.zeros(len(self), dtype=np.int64), min(1, len(self))
        places = [self.place(c) for c in columns]
        widths = [len(self.categories[p]) + SPECIALS for p in places]
        distinct, inverse = _numbered(*_keys([self.codes[:, p] for p in places], widths))
        return inverse, len(distinct)

    def as_table(self) -> Table:
        """Return the combinations as rows, one each."""
        columns = {c: Column(self.codes[:, i], self.categories[i]) for i, c in enumerate(self.columns)}
        return Table(columns, np.arange(len(self), dtype=np.int64))

    def project(self, columns: Sequence[str]) -> Counts:
        """Return the counts over fewer columns (or another order of them)."""
        places = [self.place(c) for c in columns]
        if not places:
            return _rows_alike(self.counts)
        codes = [self.codes[:, p] for p in places]
        return _collapse(tuple(columns), tuple(self.categories[p] for p in places), codes, self.counts)


def count(table: Table, columns: Sequence[str], weight: str | None = None) -> Counts:
    """Count the combinations of ``columns`` in one partition, weighted by the integers in column ``weight``."""
    weights = None if weight is None else weights_of(table[weight])
    if not columns:
        return _rows_alike(np.ones(len(table), dtype=np.int64) if weights is None else weights)
    ordered = [_sorted(table[c]) for c in columns]
    return _collapse(tuple(columns), tuple(c.categories for c in ordered), [c.codes for c in ordered], weights)


def summed(table: Table, columns: Sequence[str], numbers: npt.NDArray[np.int64]) -> Counts:
    """Add up ``numbers`` (rows,) over the combinations of ``columns``."""
    if not columns:
        return _rows_alike(numbers)
    ordered = [_sorted(table[c]) for c in columns]
    return _collapse(tuple(columns), tuple(c.categories for c in ordered), [c.codes for c in ordered], numbers)


def weights_of(column: Column) -> npt.NDArray[np.int64]:
    """Row weights as int64. Raises ValueError where one is missing, not a whole number, or negative."""
    if isinstance(column, NumericColumn) and column.kind is AttributeType.INTEGER and column.missing is None:
        if len(column) and column.values.min() < 0:
            raise ValueError("weights must be whole numbers from 0 up, and one is negative")
        return column.values.astype(np.int64)
    if (column.codes < 0).any():
        raise ValueError("weights must be whole numbers from 0 up, and one is missing")
    try:
        numbers = column.categories.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        raise ValueError("weights must be whole numbers from 0 up, and one is another text") from None
    if len(numbers) and numbers.min() < 0:
        raise ValueError("weights must be whole numbers from 0 up, and one is negative")
    return numbers[column.codes].astype(np.int64) if len(numbers) else np.zeros(0, dtype=np.int64)


def written_out(table: Table, names: Sequence[str], weight: str | None) -> Table:
    """Return the columns ``names`` with each row as often as its ``weight`` says; as they are without one.

    Copies share their row's number. Raises ValueError where a weight is none.
    """
    if weight is None:
        return table.select(names)
    return table.select(names).take(np.repeat(np.arange(len(table)), weights_of(table[weight])))


def merge(parts: Iterable[Counts]) -> Counts:
    """Add up the counts of partitions over the same columns. Raises ValueError for none."""
    every = list(parts)
    if not every:
        raise ValueError("there must be counts of one partition at least, and there are none")
    if len(every) == 1:
        return every[0]
    columns = every[0].columns
    if not columns:
        return _rows_alike(np.concatenate([p.counts for p in every]))
    stacked = [stacked_texts([Column(p.codes[:, i], p.categories[i]) for p in every]) for i in range(len(columns))]
    categories, codes = tuple(c.categories for c in stacked), [c.codes for c in stacked]
    return _collapse(columns, categories, codes, np.concatenate([p.counts for p in every]))


def _sorted(column: Column) -> Column:
    names = column.categories
    ordered = union([names])
    return column.onto(ordered)


def _keys(codes: Sequence[npt.NDArray[np.int32]], widths: Sequence[int]) -> tuple[npt.NDArray[np.int64], int]:
    """One int64 per row that sorts like the row of these columns does, and the bound below which all keys lie.

    Mixed radix; where the product of widths outgrows 62 bits, what is there so far is renumbered first.
    """
    keys, radix = codes[0].astype(np.int64), widths[0]
    shift = SPECIALS  # of all columns so far, added at the end
    for column, width in zip(codes[1:], widths[1:], strict=True):
        if radix * width >= _KEY_LIMIT:
            distinct, keys = _numbered(keys, radix)
            radix, shift = max(1, len(distinct)), 0
        keys *= width
        keys += column
        shift = shift * width + SPECIALS
        radix *= width
    keys += shift
    return keys, radix


def _numbered(keys: npt.NDArray[np.int64], radix: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct keys, all below ``radix``, sorted, and the place of each key: ``np.unique`` in less time."""
    many = len(keys) > _CACHED and 4 * radix > len(keys)
    return _by_sorting(keys) if many and _mostly_differ(keys) else _by_hashing(keys)


def _mostly_differ(keys: npt.NDArray[np.int64]) -> bool:
    """Whether there seems to be a distinct key for every four: a sample of s has s^2 / 2d repetitions of d keys."""
    sample = np.sort(keys[:: max(1, len(keys) // _SAMPLE)])
    repeated = np.count_nonzero(sample[1:] == sample[:-1])
    return bool(repeated * len(keys) <= 2 * len(sample) ** 2)


def _by_hashing(keys: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where distinct keys are few, only these are worth sorting."""
    coded = pa.array(keys).dictionary_encode()
    distinct = coded.dictionary.to_numpy()
    order = np.argsort(distinct)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return distinct[order], rank[coded.indices.to_numpy()]


def _by_sorting(keys: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where they are many, a table of hashes outgrows the processor's caches."""
    order = np.argsort(keys)
    ordered = keys[order]
    first = np.ones(len(keys), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = np.cumsum(first) - 1
    return ordered[first], places


def _collapse(
    columns: tuple[str, ...],
    categories: tuple[pa.StringArray, ...],
    codes: Sequence[npt.NDArray[np.int32]],
    weights: npt.NDArray[np.int64] | None,
) -> Counts:
    """Add up the rows that are equal in all of ``codes``, one array a column, each as often as its weight says."""
    widths = [len(c) + SPECIALS for c in categories]
    keys, radix = _keys(codes, widths)
    distinct: npt.NDArray[np.int64] | None = None
    size = radix
    if radix > _DENSE_LIMIT or radix > 4 * len(keys) + 1024:
        distinct, keys = _numbered(keys, radix)
        size = len(distinct)
    present = byte_counts(keys.astype(np.uint8))[:size] if size <= BYTES else np.bincount(keys, minlength=size)
    totals = present if weights is None else _sums(keys, weights, size)
    hit = np.flatnonzero(present)
    if math.prod(widths) < _KEY_LIMIT:
        cells = _cells(hit if distinct is None else distinct[hit], widths)
    else:
        first = np.empty(size, dtype=np.int64)
        first[keys] = np.arange(len(keys))  # any row of the combination will do
        cells = np.stack([c[first[hit]] for c in codes], axis=1)
    return Counts(columns, categories, cells, totals[hit].astype(np.int64))


def _rows_alike(weights: npt.NDArray[np.int64]) -> Counts:
    """Return the counts over no columns: rows, if there are any, are alike."""
    total = np.array([weights.sum()] * min(1, len(weights)), dtype=np.int64)
    return Counts((), (), np.empty((len(total), 0), dtype=np.int32), total)


def _cells(keys: npt.NDArray[np.int64], widths: Sequence[int]) -> npt.NDArray[np.int32]:
    """Return the codes that keys were made of, shape (keys, columns)."""
    codes = np.empty((len(keys), len(widths)), dtype=np.int32)
    rest = keys
    for place in range(len(widths) - 1, -1, -1):
        above = rest // widths[place]  # by one number numpy divides without dividing
        codes[:, place] = rest - above * widths[place] - SPECIALS
        rest = above
    return codes


def _sums(keys: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Exact integer sums per key (floats of ``bincount`` would round above 2^53)."""
    if len(weights) == 0 or int(weights.max(initial=0)) * len(weights) < 1 << 53:
        return np.bincount(keys, weights=weights, minlength=size).astype(np.int64)
    out = np.zeros(size, dtype=np.int64)
    np.add.at(out, keys, weights)
    return out


BYTES = 256
_EACH = np.arange(BYTES, dtype=np.uint8)
_FEW = 1 << 13


def byte_counts(octets: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return how often each of the 256 bytes occurs, shape (256,); sorting many of them takes two passes.

    >>> byte_counts(np.array([3, 0, 3], dtype=np.uint8))[:4].tolist()
    [1, 0, 0, 2]
    """
    if len(octets) < _FEW:
        return np.bincount(octets, minlength=BYTES)
    ends = np.searchsorted(np.sort(octets, kind="stable"), _EACH, side="right")  # stable: a radix sort
    return np.diff(ends, prepend=0).astype(np.int64, copy=False)
