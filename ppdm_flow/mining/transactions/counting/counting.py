"""Counts of itemsets in randomized rows, by original size: supports, patterns, partial supports."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import popcount
from ppdm_flow.mining.transactions.counting.vertical import BitColumns
from ppdm_flow.sdk.compiled import compiled

Integers = npt.NDArray[np.int64]

LARGEST = 12
"""Items of an itemset whose 2^k patterns are told apart."""

Words = npt.NDArray[np.uint64]

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
