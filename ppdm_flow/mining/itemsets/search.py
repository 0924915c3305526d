"""What both searches for itemsets share: the data in the order of the search, by row and by item."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import (
    Words,
    common,
    lowest,
    scatter,
    weight_common,
    weight_planes,
    words_for,
)
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.sdk.compiled import compiled

Counts = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]

MOST_BITS = 1 << 31
"""Bit vectors of items are kept while they need at most so many bits (256 MB); else rows are listed."""


WORDS_A_ROW = 1 << 11
"""A search of all frequent sets goes on with lists of rows where each row stands for so many words of bits, or more:
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
    """For a search of closed sets: counters, and what stands for the set at hand.

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
