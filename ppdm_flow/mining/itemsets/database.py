"""A transaction database: distinct rows of items, with weights.

Places: a position within a row for every item, such that no two items of one row share theirs.
In a table the place of an item is its column. For transactions places are given greedily; few of them keep the masks
of a row's cells short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import ABSENT, Words, occurrences, words_for
from ppdm_flow.sdk.compiled import compiled

Cells = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@compiled
def first_fit(
    begin: npt.NDArray[np.int64], rows: npt.NDArray[np.int32], order: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int32]:
    """Give each item the lowest place that is free in all of its rows, in this order of items.

    The rows of item i are ``rows[begin[i]:begin[i + 1]]``, of ``count`` rows. Costs O(occurrences * places / 64).
    """
    taken = np.zeros((count, 1), dtype=np.uint64)
    place = np.zeros(len(begin) - 1, dtype=np.int32)
    for item in order:
        if begin[item] == begin[item + 1]:
            continue
        width = taken.shape[1]
        free = -1
        for w in range(width):
            used = np.uint64(0)
            for k in range(begin[item], begin[item + 1]):
                used |= taken[rows[k], w]
            if used != np.uint64(0xFFFFFFFFFFFFFFFF):
                free = 64 * w
                while used & np.uint64(1):
                    used >>= np.uint64(1)
                    free += 1
                break
        if free < 0:
            free = 64 * width
            wider = np.zeros((count, width + 1), dtype=np.uint64)
            wider[:, :width] = taken
            taken = wider
        place[item] = free
        bit = np.uint64(1) << np.uint64(free & 63)
        for k in range(begin[item], begin[item + 1]):
            taken[rows[k], free >> 6] |= bit
    return place


@dataclass(frozen=True, slots=True, eq=False)
class ItemDatabase:
    """``cells`` (rows, places) int32: the item in each place of each distinct row, or ``ABSENT``.

    ``weights`` (rows,) int64: how often each row occurs, heaviest first. ``place`` (items,) int32: the one place in
    which an item may stand. ``supports`` (items,) int64: how many rows, by weight, have the item. Items are numbers
    from 0; their order is the lexicographic order of itemsets.
    """

    cells: Cells
    weights: Counts
    place: Cells
    supports: Counts

    @property
    def rows(self) -> int:
        """How many rows the data have, equal ones counted each."""
        return int(self.weights.sum())

    @property
    def items(self) -> int:
        """The size of the alphabet."""
        return len(self.supports)

    @property
    def unit(self) -> bool:
        """Whether no row occurs twice."""
        return bool((self.weights == 1).all())

    @classmethod
    def of_cells(cls, cells: Cells, place: Cells, weights: Counts | None = None) -> ItemDatabase:
        """Build from one item for each place and row, merging equal rows. Raises ValueError for no rows."""
        if len(cells) == 0:
            raise ValueError("cells must have at least one row: a database without rows is not allowed")
        given = np.ones(len(cells), dtype=np.int64) if weights is None else weights
        if (given < 1).any():
            raise ValueError("weights must be at least 1, but one is below 1")
        if cells.shape[1]:
            distinct, inverse = np.unique(cells, axis=0, return_inverse=True)
            total = np.bincount(inverse.ravel(), given, len(distinct)).astype(np.int64)
        else:
            distinct, total = cells[:1], given.sum(keepdims=True)
        order = np.argsort(-total, kind="stable")
        distinct, total = np.ascontiguousarray(distinct[order], dtype=np.int32), total[order]
        supports = np.zeros(len(place), dtype=np.int64)
        for column in distinct.T:
            here = column >= 0
            supports += np.bincount(column[here], total[here], len(place)).astype(np.int64)
        return cls(distinct, total, place.astype(np.int32), supports)

    @classmethod
    def of_transactions(cls, offsets: Counts, items: Cells, alphabet: int | None = None) -> ItemDatabase:
        """Build from rows of item numbers: row r has ``items[offsets[r]:offsets[r + 1]]``; repeated items count once.

        Raises ValueError for no rows, and for an item below 0 or not below ``alphabet``.
        """
        rows = len(offsets) - 1
        size = int(items.max(initial=-1)) + 1 if alphabet is None else alphabet
        if len(items) and (items.min() < 0 or items.max() >= size):
            raise ValueError(f"items must be from 0 to {size - 1}: one is outside of the alphabet")
        key = np.unique(np.repeat(np.arange(rows), np.diff(offsets)) + items.astype(np.int64) * rows)
        item, row = (key // max(rows, 1)).astype(np.int32), (key % max(rows, 1)).astype(np.int32)
        begin = np.searchsorted(item, np.arange(size + 1)).astype(np.int64)
        place = first_fit(begin, row, np.argsort(-np.diff(begin), kind="stable"), rows)
        cells = np.full((rows, int(place.max(initial=-1)) + 1), ABSENT, dtype=np.int32)
        cells[row, place[item]] = item
        return cls.of_cells(cells, place)

    @classmethod
    def of_lists(cls, rows: Iterable[Sequence[int]], alphabet: int | None = None) -> ItemDatabase:
        """Build from lists of item numbers (small data)."""
        lists = [list(row) for row in rows]
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return cls.of_transactions(offsets, np.array([i for row in lists for i in row], dtype=np.int32), alphabet)

    def vertical(self, line: Cells) -> Words:
        """Return the rows of each item as bits: line ``line[i]`` for item i, none where that is negative."""
        lines = int(line.max(initial=-1)) + 1
        out = np.zeros((lines, words_for(len(self.cells))), dtype=np.uint64)
        occurrences(self.cells, line, out)
        return out
