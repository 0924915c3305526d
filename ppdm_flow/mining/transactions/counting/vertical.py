"""Sets by item: the rows of each item as bits, rows of one original size together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.database import popcount
from ppdm_flow.mining.transactions.counting.seeded_expansion import (
    TILE,
    ExpansionPoints,
    columns_of_bits,
    columns_of_items,
    columns_of_seeds,
    count_items,
    lowest_plane,
    rows_of_seeds,
)
from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.sets.packed import words_for
from ppdm_flow.tables.sets.seeded import LEVELS

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BitColumns:
    """Bits ``64 starts[c]`` to ``64 starts[c] + rows[c]`` of ``words[i]`` are the rows of original size ``sizes[c]``.

    A bit is set where ``items[i]`` is in the set; the bits from there to the next start are 0. ``words`` uint64
    (items, words), ``sizes`` and ``rows`` int64 (classes,), ``starts`` int64 (classes + 1,).
    """

    items: Integers
    words: Words
    sizes: Integers
    starts: Integers
    rows: Integers


@dataclass(frozen=True, slots=True, eq=False)
class SizeClass:
    """The rows (positions, ascending) of one original size, and the word at which their bits begin."""

    size: int
    rows: Integers
    start: int


def columns(sets: SetColumn, items: Integers, points: ExpansionPoints | None = None) -> BitColumns:
    """Return the bits of ``items`` (distinct positions in the alphabet) in one partition.

    ``points`` of the same items spares tabulating them again for each partition of seeds.
    """
    classes = list(size_classes(sets))
    starts = np.array([c.start for c in classes] + [_end(classes)], dtype=np.int64)
    words = np.zeros((len(items), int(starts[-1])), dtype=np.uint64)
    if isinstance(sets, SeededSets):
        _expand(sets, classes, ExpansionPoints.of(items, sets.expansion.width) if points is None else points, words)
    elif isinstance(sets, PackedSets):
        _turn(sets, classes, items, words)
    else:
        _scatter(sets, classes, items, words)
    sizes = np.array([c.size for c in classes], dtype=np.int64)
    return BitColumns(items, words, sizes, starts, np.array([len(c.rows) for c in classes], dtype=np.int64))


def item_counts(sets: SetColumn, points: ExpansionPoints | None = None) -> tuple[Integers, Integers]:
    """Return the sizes that occur (classes,), and how many rows of each have each item, (classes, alphabet)."""
    alphabet = len(sets.categories)
    classes = list(size_classes(sets))
    counts = np.zeros((len(classes), alphabet), dtype=np.int64)
    if isinstance(sets, SeededSets) and points is None:
        points = ExpansionPoints.of(np.arange(alphabet), sets.expansion.width)
    for c, one in enumerate(classes):
        if isinstance(sets, SeededSets) and points is not None:
            room = np.zeros(64 * TILE * points.tiles, dtype=np.int64)
            count_items(sets.seeds, one.rows, *_terms(sets, one.size), points.bits, room)
            counts[c] = room[:alphabet]
        elif isinstance(sets, Baskets):
            counts[c] = sets.take(one.rows).counts()
    if isinstance(sets, PackedSets):
        for c, one in enumerate(classes):
            counts[c] = _bit_counts(sets.take(one.rows))
    return np.array([c.size for c in classes], dtype=np.int64), counts


def expand(seeds: SeededSets) -> PackedSets:
    """Return the randomized transactions of seeds."""
    width = words_for(len(seeds.categories))
    out = np.zeros((len(seeds), width), dtype=np.uint64)
    points = ExpansionPoints.of(np.arange(len(seeds.categories)), seeds.expansion.width)
    for one in size_classes(seeds):
        rows_of_seeds(seeds.seeds, one.rows, *_terms(seeds, one.size), points.bits, out)
    if len(seeds.categories) % 64:
        out[:, -1] &= np.uint64((1 << len(seeds.categories) % 64) - 1)
    return PackedSets(out, seeds.sizes, seeds.categories)


def size_classes(sets: SetColumn) -> Iterator[SizeClass]:
    """Yield the rows of each original size, ascending; for baskets it is their own."""
    sizes = sets.sizes
    order = np.argsort(sizes, kind="stable").astype(np.int64)
    distinct, first = np.unique(sizes[order], return_index=True)
    start = 0
    ends = np.append(first, len(order))[1:]
    for size, begin, end in zip(distinct, first, ends, strict=True):
        yield SizeClass(int(size), order[begin:end], start)
        start += words_for(int(end - begin))


def _end(classes: list[SizeClass]) -> int:
    return classes[-1].start + words_for(len(classes[-1].rows)) if classes else 0


def _terms(seeds: SeededSets, size: int) -> tuple[int, int, int]:
    """Return how many coefficients count, how many values put an item in, and the lowest bit that decides it."""
    level = round(seeds.expansion.insertion[size] * LEVELS)
    return size + seeds.expansion.spare, level, lowest_plane(level)


def _expand(seeds: SeededSets, classes: list[SizeClass], points: ExpansionPoints, words: Words) -> None:
    for one in classes:
        columns_of_seeds(seeds.seeds, one.rows, *_terms(seeds, one.size), points.bits, one.start, words)
        _clear_tail(one, words)


def _clear_tail(one: SizeClass, words: Words) -> None:
    """Clear the bits behind a class: rows that are not there."""
    if len(one.rows) % 64:
        words[:, one.start + len(one.rows) // 64] &= np.uint64((1 << len(one.rows) % 64) - 1)


def _turn(sets: PackedSets, classes: list[SizeClass], items: Integers, words: Words) -> None:
    needed = np.unique(items >> 6)
    tiles = -(-len(needed) // TILE)
    lines = np.full(tiles * TILE, -1, dtype=np.int64)
    lines[: len(needed)] = needed
    spots = np.full(tiles * TILE * 64, -1, dtype=np.int64)
    spots[np.searchsorted(needed, items >> 6) * 64 + (items & 63)] = np.arange(len(items))
    block = np.empty((64, TILE), dtype=np.uint64)
    for one in classes:
        columns_of_bits(sets.words, one.rows, one.start, lines.reshape(tiles, TILE), spots, block, words)


def _scatter(sets: Baskets, classes: list[SizeClass], items: Integers, words: Words) -> None:
    line = np.full(len(sets.categories), -1, dtype=np.int64)
    line[items] = np.arange(len(items))
    for one in classes:
        columns_of_items(sets.offsets, sets.items, one.rows, one.start, line, words)


def _bit_counts(sets: PackedSets) -> Integers:
    """Count each item, a tile of the alphabet at a time: few bits are held at once."""
    alphabet = len(sets.categories)
    one = SizeClass(0, np.arange(len(sets)), 0)
    counts = np.zeros(alphabet, dtype=np.int64)
    for begin in range(0, alphabet, 64 * TILE):
        items = np.arange(begin, min(alphabet, begin + 64 * TILE))
        words = np.zeros((len(items), words_for(len(sets))), dtype=np.uint64)
        _turn(sets, [one], items, words)
        counts[items] = np.bitwise_count(words).sum(axis=1)
    return counts


# Counts of itemsets in randomized rows, by original size: supports, patterns, partial supports.


LARGEST = 12
"""Items of an itemset whose 2^k patterns are told apart."""

STRETCH = 512
"""Words of each item looked at before the next ones: what some hundred items take stays in the cache."""


@compiled
def supports(words: Words, starts: Integers, itemsets: Integers, out: Integers) -> None:
    """Add to ``out`` (itemsets, classes) how many rows of each class have all lines of ``itemsets`` (itemsets, k >= 1).

    Itemsets that share all but the last line with the one before also share the work for these.
    """
    size = itemsets.shape[1]
    shared = np.empty(STRETCH, dtype=np.uint64)
    for c in range(len(starts) - 1):
        for begin in range(starts[c], starts[c + 1], STRETCH):
            span = min(STRETCH, starts[c + 1] - begin)
            for s in range(len(itemsets)):
                fresh = s == 0
                for i in range(size - 1):
                    fresh = fresh or itemsets[s, i] != itemsets[s - 1, i]
                if fresh:
                    for w in range(span):
                        shared[w] = ~np.uint64(0)
                    for i in range(size - 1):
                        line = words[itemsets[s, i]]
                        for w in range(span):
                            shared[w] &= line[begin + w]
                last = words[itemsets[s, size - 1]]
                total = np.uint64(0)
                for w in range(span):
                    total += popcount(shared[w] & last[begin + w])
                out[s, c] += np.int64(total)


def support_counts(columns: BitColumns, itemsets: Integers) -> Integers:
    """Return how many rows of each class have all items, (itemsets, classes); ``itemsets`` (n, k) are lines of it."""
    counts = np.zeros((len(itemsets), len(columns.sizes)), dtype=np.int64)
    if itemsets.shape[1] == 0:
        counts[:] = columns.rows
    else:
        supports(columns.words, columns.starts, np.ascontiguousarray(itemsets, dtype=np.int64), counts)
    return counts


def pattern_counts(columns: BitColumns, itemsets: Integers) -> Integers:
    """Return the rows of each class with exactly these of the items, (itemsets, classes, 2^k).

    Bit i of the last index says whether item i of the itemset is there. Raises ValueError for more than 12 items.

    Each subset is counted once, whichever itemsets it is of; inclusion and exclusion give the rest.
    """
    size = itemsets.shape[1]
    if size > LARGEST:
        raise ValueError(f"patterns are counted for itemsets of at most {LARGEST} items, got {size}")
    counts = np.empty((len(itemsets), len(columns.sizes), 1 << size), dtype=np.int64)
    for chosen in range(size + 1):
        for places in combinations(range(size), chosen):
            mask = sum(1 << place for place in places)
            counts[:, :, mask] = _each_once(columns, itemsets[:, list(places)])
    return exactly(counts)


def partial_support_counts(columns: BitColumns, itemsets: Integers) -> Integers:
    """Return the rows of each class with exactly l of the items, l = 0..k, (itemsets, classes, k + 1)."""
    return partial(pattern_counts(columns, itemsets))


def exactly(at_least: Integers) -> Integers:
    """Turn counts of rows with at least these items (..., 2^k) into counts of rows with exactly these."""
    exact = at_least.copy()
    size = exact.shape[-1].bit_length() - 1
    masks = np.arange(exact.shape[-1])
    for place in range(size):
        without = masks[masks >> place & 1 == 0]
        exact[..., without] -= exact[..., without | 1 << place]
    return exact


def partial(patterns: Integers) -> Integers:
    """Add up patterns (..., 2^k) of as many items: (..., k + 1)."""
    size = patterns.shape[-1].bit_length() - 1
    ones = np.bitwise_count(np.arange(patterns.shape[-1]))
    return np.stack([patterns[..., ones == count].sum(axis=-1) for count in range(size + 1)], axis=-1)


def _each_once(columns: BitColumns, itemsets: Integers) -> Integers:
    if itemsets.shape[1] == 0:
        return np.broadcast_to(columns.rows, (len(itemsets), len(columns.rows)))
    distinct, inverse = np.unique(itemsets, axis=0, return_inverse=True)
    return support_counts(columns, distinct)[inverse.ravel()]
