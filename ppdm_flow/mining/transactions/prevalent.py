"""The itemsets that occur most often among original transactions, pool by pool, with exact counts.

All items are counted, and itemsets whose parts are all among the most frequent ones of some pool. The result names a
floor: no itemset that is left out is more frequent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.apriori import Counter, Level, Partitions, joined, patterns
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import TransactionOperator

Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

WORK = 1 << 31
"""Words of 64 transactions that pairs of items are counted in, about: the most frequent items of a pool form pairs."""

MOST_ITEMS, LEAST_ITEMS = 2000, 50
ITEMSETS, LEAST_ITEMSETS = 1500, 100
"""The same of itemsets."""

TINY = 1e-12
"""A share that means none at all, where one above 0 is asked for."""


@dataclass(frozen=True, slots=True)
class SizePool:
    """Neighbouring transaction sizes, ascending, and how many transactions have them."""

    sizes: tuple[int, ...]
    rows: int

    @property
    def name(self) -> str:
        """``7`` or ``8-12``."""
        first, last = self.sizes[0], self.sizes[-1]
        return str(first) if first == last else f"{first}-{last}"


def pools(numbers: Mapping[int, int], least: int) -> tuple[SizePool, ...]:
    """Return the pools of m -> N_m, each of at least ``least`` transactions, or one of all if there are not so many.

    Sizes are taken in ascending order until a pool is full; what is left at the end goes to the last one. Empty
    transactions hold nothing that could be learned of, and are in none.
    """
    filled: list[SizePool] = []
    waiting: tuple[int, ...] = ()
    rows = 0
    for size in sorted(m for m, number in numbers.items() if m > 0 and number > 0):
        waiting, rows = (*waiting, size), rows + numbers[size]
        if rows >= least:
            filled.append(SizePool(waiting, rows))
            waiting, rows = (), 0
    if waiting and filled:
        last = filled.pop()
        waiting, rows = (*last.sizes, *waiting), last.rows + rows
    return (*filled, SizePool(waiting, rows)) if waiting else tuple(filled)


@dataclass(frozen=True, slots=True, eq=False)
class PrevalentItemsets:
    """``levels[k - 1]`` has itemsets of k items and the rows of each pool that hold them; all items for k = 1.

    ``floors`` int64 (longest, pools): no itemset of k items that is left out is in more rows of a pool than that.
    """

    alphabet: int
    pools: tuple[SizePool, ...]
    levels: tuple[Level, ...]
    floors: Integers

    @property
    def rows(self) -> Integers:
        """Transactions of each pool, (pools,)."""
        return np.array([pool.rows for pool in self.pools], dtype=np.int64)

    @property
    def longest(self) -> int:
        """Items of the largest itemsets that were counted."""
        return len(self.levels)

    def patterns(self, length: int) -> Integers:
        """Return the transactions of each pool by which items of each itemset they have, (itemsets, pools, 2^k)."""
        here = self.levels[length - 1]
        return patterns(list(self.levels), here.itemsets, here.counts, self.rows, self.alphabet)

    def maxima(self) -> Floats:
        """Return the largest support of itemsets of 1, 2, .. items, as shares of each pool, (longest, pools).

        No itemset has more; where the largest one may be among those left out it is their floor.
        """
        by_length = [
            np.maximum(level.counts.max(axis=0, initial=0), f)
            for level, f in zip(self.levels, self.floors, strict=True)
        ]
        shares = np.maximum(np.array(by_length) / self.rows, TINY)
        return np.minimum.accumulate(shares, axis=0)

    def below(self) -> Floats:
        """Return ``floors`` as shares above 0."""
        return np.asarray(np.maximum(self.floors / self.rows, TINY))


def prevalent(
    partitions: Partitions, pools: Sequence[SizePool], alphabet: int, longest: int, threads: int = 1
) -> PrevalentItemsets:
    """Count itemsets of 1 to ``longest`` items. ``partitions`` are read once for each size.

    They are baskets over one alphabet; those of sizes in no pool (empty ones) count for nothing.
    """
    sizes = sorted({0, *(m for pool in pools for m in pool.sizes)})
    counter = Counter(partitions, TransactionOperator.none(sizes, alphabet), threads)
    into = _into(sizes, pools)
    _, singles, _ = counter.singles()
    counts = singles @ into
    kept, floor = _most_frequent(counts, _items(pools))
    items = np.arange(alphabet, dtype=np.int64)
    levels = [Level(items[:, None], np.zeros(alphabet, dtype=np.int64), counts, kept)]
    floors = [np.zeros(len(pools), dtype=np.int64)]
    for _ in range(1, longest):
        floors.append(np.maximum(floors[-1], floor))
        itemsets, parents = joined(levels, alphabet)
        counts = counter.itemsets(itemsets) @ into if len(itemsets) else np.zeros((0, len(pools)), dtype=np.int64)
        kept, floor = _most_frequent(counts, max(LEAST_ITEMSETS, ITEMSETS // len(pools)))
        levels.append(Level(itemsets, parents, counts, kept))
    return PrevalentItemsets(alphabet, tuple(pools), tuple(levels), np.array(floors))


def _items(pools: Sequence[SizePool]) -> int:
    """Return how many items of each pool are paired, so that counting takes no longer than it may."""
    pairs = 64 * WORK / max(1, sum(pool.rows for pool in pools))
    return int(min(max(np.sqrt(2 * pairs) / len(pools), LEAST_ITEMS), MOST_ITEMS))


def _into(sizes: list[int], pools: Sequence[SizePool]) -> Integers:
    """Return 1 where a size is in a pool, (sizes, pools)."""
    return np.array([[m in pool.sizes for pool in pools] for m in sizes], dtype=np.int64)


def _most_frequent(counts: Integers, number: int) -> tuple[Bools, Integers]:
    """Return which itemsets are among the most frequent of some pool, and the largest count of others, (pools,)."""
    if len(counts) <= number:
        return np.asarray((counts > 0).any(axis=1)), np.zeros(counts.shape[1], dtype=np.int64)
    limits = np.partition(counts, len(counts) - 1 - number, axis=0)[len(counts) - 1 - number]
    return np.asarray((counts > limits).any(axis=1)), limits
