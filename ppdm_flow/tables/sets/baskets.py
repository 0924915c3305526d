"""Sets of few items: offsets and item codes, as in a sparse matrix by rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Offsets = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]
Sizes = npt.NDArray[np.int32]

ABSENT = -1
"""In a map of codes: the item has no place in the new alphabet."""


@dataclass(frozen=True, slots=True, eq=False)
class Baskets:
    """Row r holds ``items[offsets[r]:offsets[r + 1]]``, ascending and distinct codes into ``categories``.

    ``offsets`` int64 of shape (rows + 1,), from 0; ``items`` int32. A row may hold nothing. Not every category needs
    to occur. Raises ValueError where the shapes do not fit.
    """

    offsets: Offsets
    items: Items
    categories: pa.StringArray

    def __post_init__(self) -> None:
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.items):
            raise ValueError("the offsets of baskets do not span their items")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Sizes:
        """The number of items of each row, int32 of shape (rows,)."""
        return np.diff(self.offsets).astype(np.int32)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.offsets.nbytes + self.items.nbytes + self.categories.nbytes)

    @classmethod
    def of(cls, rows: Sequence[Iterable[str]], categories: Sequence[str] | None = None) -> Baskets:
        """Build a small column from collections of texts (tests and examples)."""
        distinct = [sorted(set(row)) for row in rows]
        names = sorted({i for row in distinct for i in row}) if categories is None else list(categories)
        place = {name: i for i, name in enumerate(names)}
        codes = [sorted(place[i] for i in row) for row in distinct]
        offsets = np.cumsum([0, *map(len, codes)], dtype=np.int64)
        items = np.array([i for row in codes for i in row], dtype=np.int32)
        return cls(offsets, items, pa.array(names, pa.string()))

    def texts(self) -> list[list[str]]:
        """Every row as a list of texts, in the order of codes: for small tables."""
        names = self.categories.to_pylist()
        bounds = self.offsets.tolist()
        items = [names[i] for i in self.items.tolist()]
        return [items[begin:end] for begin, end in itertools.pairwise(bounds)]

    def take(self, rows: npt.NDArray[Any] | slice) -> Baskets:
        """Return the sets at ``rows``: positions, a boolean mask, or a slice of step 1."""
        if isinstance(rows, slice):
            return self._sliced(*rows.indices(len(self))[:2])
        places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        sizes = np.diff(self.offsets)[places]
        offsets = _starts(sizes)
        source = np.repeat(self.offsets[:-1][places] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Baskets(offsets, self.items[source], self.categories)

    def rows(self) -> npt.NDArray[np.int64]:
        """Return the row of every entry of ``items``."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    def counts(self) -> npt.NDArray[np.int64]:
        """Return in how many rows each item occurs, shape (len(categories),)."""
        return np.bincount(self.items, minlength=len(self.categories)).astype(np.int64)

    def mapped(self, code_map: Items, categories: pa.StringArray) -> Baskets:
        """Replace item ``i`` by ``code_map[i]``; those of -1 leave, those that become one are there once."""
        items = np.asarray(code_map, dtype=np.int32)[self.items]
        used = code_map[self.in_use()]
        if bool((used >= 0).all()) and bool((np.diff(used) > 0).all()):
            return Baskets(self.offsets, items, categories)
        stays = items >= 0
        mapped, _ = gathered(self.rows()[stays], items[stays], len(self), categories)
        return mapped

    def onto(self, categories: pa.StringArray) -> Baskets:
        """Return the same sets over another alphabet. Raises KeyError if an item in use is not in it."""
        if self.categories.equals(categories):
            return self
        code_map = placed(self.categories, categories)
        if (code_map[self.items] < 0).any():
            raise KeyError("an item in use is not in the given alphabet")
        return self.mapped(code_map, categories)

    def in_use(self) -> npt.NDArray[np.bool_]:
        """Which items occur, shape (len(categories),)."""
        return self.counts() > 0

    def compact(self) -> Baskets:
        """Return the same sets over the items that occur, sorted by text."""
        names = self.categories.filter(pa.array(self.in_use()))
        return self.onto(names.take(pc.sort_indices(names)))

    def valid(self) -> bool:
        """Whether offsets ascend, and items are within the alphabet, ascending and distinct within each row."""
        if (np.diff(self.offsets) < 0).any():
            return False
        if len(self.items) and (self.items.min() < 0 or self.items.max() >= len(self.categories)):
            return False
        steps = np.diff(self.items.astype(np.int64)) > 0
        starts = self.offsets[1:-1]
        inner = starts[(starts > 0) & (starts < len(self.items))]
        steps[inner - 1] = True  # the first item of a row may be below the last one of the row before
        return bool(steps.all())

    def _sliced(self, begin: int, end: int) -> Baskets:
        offsets = self.offsets[begin : max(begin, end) + 1]
        return Baskets(offsets - offsets[0], self.items[offsets[0] : offsets[-1]], self.categories)


def gathered(
    rows: npt.NDArray[np.integer[Any]], items: npt.NDArray[np.integer[Any]], size: int, categories: pa.StringArray
) -> tuple[Baskets, npt.NDArray[np.bool_]]:
    """Return the sets of ``size`` rows from pairs (row, item code) in any order, and which rows had an item twice.

    An item that a row has several times is there once.
    """
    width = max(1, len(categories))
    keys = rows.astype(np.int64) * width + items
    if len(keys) > 1 and not bool((keys[1:] > keys[:-1]).all()):
        keys = np.sort(keys)
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    twice = np.zeros(size, dtype=bool)
    twice[keys[~first] // width] = True
    kept = keys if first.all() else keys[first]
    offsets = _starts(np.bincount(kept // width, minlength=size))
    return Baskets(offsets, (kept % width).astype(np.int32), categories), twice


def placed(old: pa.StringArray, new: pa.StringArray) -> Items:
    """Return the code in ``new`` of each category of ``old``, -1 for those that are not there."""
    places: Items = pc.index_in(old, value_set=new).fill_null(ABSENT).to_numpy(zero_copy_only=False).astype(np.int32)
    return places


def _starts(sizes: npt.NDArray[np.integer[Any]]) -> Offsets:
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
