"""A transaction database: distinct rows of items, with weights.

Places: a position within a row for every item, such that no two items of one row share theirs.
In a table the place of an item is its column. For transactions places are given greedily; few of them keep the masks
of a row's cells short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.sdk.compiled import Instruction, compiled

Cells = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Items = npt.NDArray[np.int32]


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


# Packed bit vectors: rows as bits of 64-bit words, counted by the processor's own instruction.


WORD = 64
ABSENT = -1
"""The cell of a row that has no item in a place."""


def _ones(word: np.uint64) -> np.uint64:
    return np.uint64(int(word).bit_count())


def _trailing(word: np.uint64) -> np.uint64:
    return np.uint64((int(word) & -int(word)).bit_length() - 1)


popcount = Instruction(_ones, "ctpop")
"""The number of ones in a word: LLVM vectorizes it where the processor can."""
lowest = Instruction(_trailing, "cttz")
"""The position of the lowest one in a word that has one."""


def words_for(rows: int) -> int:
    """How many words hold a bit for each of ``rows``."""
    return -(-rows // WORD)


@compiled
def occurrences(cells: npt.NDArray[np.int32], line: npt.NDArray[np.int32], out: Words) -> None:
    """Set bit r of ``out[line[i]]``, all zero before, for each item i in row r of ``cells``.

    Items whose line is negative have none; those of a row have different lines.
    """
    for row in range(cells.shape[0]):
        word = row >> 6
        bit = np.uint64(1) << np.uint64(row & 63)
        for place in range(cells.shape[1]):
            item = cells[row, place]
            if item >= 0 and line[item] >= 0:
                out[line[item], word] |= bit


@compiled
def scatter(begin: npt.NDArray[np.int64], lines: npt.NDArray[np.int32], out: Words) -> None:
    """Set bit r of ``out[i]``, all zero before, for each i of ``lines[begin[r]:begin[r + 1]]``, which are distinct."""
    for row in range(len(begin) - 1):
        bit = np.uint64(1) << np.uint64(row & 63)
        for k in range(begin[row], begin[row + 1]):
            out[lines[k], row >> 6] |= bit


@inlined
def intersect_only(a: Words, b: Words, out: Words) -> None:
    """Write ``a & b`` to ``out``."""
    for w in range(len(a)):
        out[w] = a[w] & b[w]


@inlined
def common(a: Words, b: Words) -> int:
    """How many bits are set in both."""
    total = np.uint64(0)
    for w in range(len(a)):
        total += popcount(a[w] & b[w])
    return np.int64(total)  # type: ignore[return-value]  # numba's int


@inlined
def weight_common(a: Words, b: Words, planes: Words, ends: npt.NDArray[np.int64]) -> int:
    """The weight of the rows in both: bit p of a row's weight is its bit in ``planes[p]``, zero from ``ends[p]`` on.

    Rows come heaviest first, so high planes are short.
    """
    total = np.int64(0)
    for p in range(len(planes)):
        count = np.uint64(0)
        plane = planes[p]
        for w in range(ends[p]):
            count += popcount(a[w] & b[w] & plane[w])
        total += np.int64(count) << p
    return total  # type: ignore[return-value]  # numba's int


@inlined
def within(a: Words, b: Words) -> bool:
    """Whether all bits of ``a`` are set in ``b``."""
    for first in range(0, len(a), 8):
        rest = np.uint64(0)
        for w in range(first, min(first + 8, len(a))):
            rest |= a[w] & ~b[w]
        if rest:
            return False
    return True


def weight_planes(weights: npt.NDArray[np.int64]) -> tuple[Words, npt.NDArray[np.int64]]:
    """Split weights, heaviest first, into the planes that :func:`weight_common` reads, and where each one ends."""
    depth = max(1, int(weights.max(initial=1)).bit_length())
    planes = np.zeros((depth, words_for(len(weights))), dtype=np.uint64)
    for p in range(depth):
        ones = np.flatnonzero((weights >> p) & 1)
        np.bitwise_or.at(planes[p], ones >> 6, np.uint64(1) << (ones & 63).astype(np.uint64))
    ends = np.array([int(np.flatnonzero(plane)[-1]) + 1 if plane.any() else 0 for plane in planes], dtype=np.int64)
    return planes, ends


# What both searches for itemsets share: the data in the order of the search, by row and by item.


MOST_BITS = 1 << 31
"""Bit vectors of items are kept while they need at most so many bits (256 MB); else rows are listed."""


WORDS_A_ROW = 1 << 11
"""A search of all frequent sets goes on with lists of rows where a row corresponds to so many words of bits, or more:
lists do not say which items are still frequent, and every set below costs more for that."""


class RankedRows(NamedTuple):
    """Items here are ranks: frequent items by ascending support, so that searches start with the rarest.

    ``items[begin[r]:begin[r + 1]]``: the ranks in row r, ascending. ``bits`` (ranks, words), without lines if too
    large; ``planes`` and ``ends`` are the rows' weights. ``least`` support counts; a search of closed sets with
    ``sparse`` rows or less goes on with lists of rows in place of bits.
    """

    begin: Counts
    items: Items
    weights: Counts
    bits: Words
    planes: Words
    ends: Counts
    ranks: int
    least: int
    longest: int
    sparse: int


def prepare(database: ItemDatabase, least: int, longest: int) -> tuple[RankedRows, Items]:
    """Return the data of a search and the item of each rank."""
    frequent = np.flatnonzero(database.supports >= least)
    item_of = frequent[np.argsort(database.supports[frequent], kind="stable")].astype(np.int32)
    rank = np.full(database.items + 1, -1, dtype=np.int32)  # the last one is for absent cells
    rank[item_of] = np.arange(len(item_of), dtype=np.int32)
    rows, words = len(database.cells), words_for(len(database.cells))
    ranked = np.sort(rank[database.cells], axis=1)
    here = ranked >= 0
    begin = np.concatenate([[0], np.cumsum(here.sum(axis=1))]).astype(np.int64)
    bits = database.vertical(rank[:-1]) if fits(len(item_of), rows) else np.zeros((0, words), dtype=np.uint64)
    return _data(begin, ranked[here], database.weights, bits, len(item_of), least, longest), item_of


def prepare_rows(offsets: Counts, items: Items, supports: Counts, least: int, longest: int) -> tuple[RankedRows, Items]:
    """Return the data of a search of transactions as they are, and the item of each rank.

    Row r has ``items[offsets[r]:offsets[r + 1]]``, distinct; ``supports`` (items,) are their counts. Nothing as large
    as rows times places is made, and equal rows stay apart: for many rows of few items.
    """
    frequent = np.flatnonzero(supports >= least)
    item_of = frequent[np.argsort(supports[frequent], kind="stable")].astype(np.int32)
    ranks, rows = len(item_of), len(offsets) - 1
    rank = np.full(len(supports), -1, dtype=np.int64)
    rank[item_of] = np.arange(ranks)
    keys = np.repeat(np.arange(rows) * ranks, np.diff(offsets)) + rank[items]
    keys = np.sort(keys[rank[items] >= 0])
    row, ranked = np.divmod(keys, max(ranks, 1))
    begin = np.searchsorted(row, np.arange(rows + 1)).astype(np.int64)
    ranked = ranked.astype(np.int32)
    bits = np.zeros((ranks if fits(ranks, rows) else 0, words_for(rows)), dtype=np.uint64)
    if len(bits):
        scatter(begin, ranked, bits)
    return _data(begin, ranked, np.ones(rows, dtype=np.int64), bits, ranks, least, longest), item_of


def fits(ranks: int, rows: int) -> bool:
    """Whether bit vectors of the items are worth having and small enough."""
    return 0 < ranks * words_for(rows) * 64 <= MOST_BITS


def _data(
    begin: Counts, items: Items, weights: Counts, bits: Words, ranks: int, least: int, longest: int
) -> RankedRows:
    planes, ends = weight_planes(weights)
    sparse = max(8, bits.shape[1] // 2) if len(bits) else len(weights) + 1
    return RankedRows(begin, items, weights, bits, planes, ends, ranks, least, longest, sparse)


@inlined
def weight(data: RankedRows, a: Words, b: Words) -> int:
    """The weight of the rows that have both bits."""
    if len(data.planes) == 1:  # all weights are 1
        return common(a, b)
    return weight_common(a, b, data.planes, data.ends)


@inlined
def listed(words: Words, out: Items) -> int:
    """Write the positions of the ones to ``out``; return how many there are."""
    count = 0
    for w in range(len(words)):
        word = words[w]
        while word:
            out[count] = 64 * w + np.int64(lowest(word))
            count += 1
            word &= word - np.uint64(1)
    return count


class RankBuffers(NamedTuple):
    """By rank: weight and number of rows met, and where their rows go; the ranks met, in ``met``. Zero between uses."""

    weight: Counts
    size: Items
    at: Counts
    met: Items


class SearchBuffers(NamedTuple):
    """Buffers of a search for closed sets: counters, and the set at hand.

    ``prefix`` are its items, those after the core's closure in ``alive``; ``member`` says which ranks it has; ``rows``
    are some of its rows. ``mine`` are its rows in bits, ``occurs`` those of the sets before it, by their length.
    """

    scratch: RankBuffers
    prefix: Items
    alive: Items
    member: Items
    rows: Items
    mine: Words
    occurs: Words


@compiled
def scratch(data: RankedRows) -> RankBuffers:
    """Return room for counting."""
    return RankBuffers(
        np.zeros(data.ranks, dtype=np.int64),
        np.zeros(data.ranks, dtype=np.int32),
        np.full(data.ranks, -1, dtype=np.int64),
        np.empty(data.ranks, dtype=np.int32),
    )


@inlined
def clear(s: RankBuffers, rank: int) -> None:
    """Forget one rank's figures."""
    s.weight[rank] = 0
    s.size[rank] = 0
    s.at[rank] = -1


@inlined
def count_later(data: RankedRows, s: RankBuffers, pool: Items, low: int, high: int, last: int) -> int:
    """Count, over the rows ``pool[low:high]``, every rank after ``last``; return how many ranks were met."""
    met = 0
    for k in range(low, high):
        row = pool[k]
        mass = data.weights[row]
        j = data.begin[row + 1] - 1
        while j >= data.begin[row] and data.items[j] > last:
            rank = data.items[j]
            if s.size[rank] == 0:
                s.met[met] = rank
                met += 1
            s.size[rank] += 1
            s.weight[rank] += mass
            j -= 1
    return met


@inlined
def spread(data: RankedRows, s: RankBuffers, pool: Items, low: int, high: int, last: int) -> None:
    """Write the rows ``pool[low:high]`` of each rank after ``last`` to its place ``at``, if it was given one."""
    for k in range(low, high):
        row = pool[k]
        j = data.begin[row + 1] - 1
        while j >= data.begin[row] and data.items[j] > last:
            rank = data.items[j]
            if s.at[rank] >= 0:
                pool[s.at[rank]] = row
                s.at[rank] += 1
            j -= 1
