"""How many rows have all items of an itemset, by original size: compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import popcount
from ppdm_flow.mining.itemsets.kernels import allocating
from ppdm_flow.sdk.compiled import tolerant

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

STRETCH = 512
"""Words of each item looked at before the next ones: what some hundred items take stays in the cache."""


@tolerant
@allocating
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
