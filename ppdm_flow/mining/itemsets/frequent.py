"""All frequent itemsets, depth first: Eclat on bit vectors, then on lists of rows where few are left.

Zaki, "Scalable algorithms for association mining", TKDE 12 (2000). On lists, one pass over the rows delivers the
occurrences of all extensions (Uno, Kiyomi, Arimura, "LCM ver. 2", FIMI 2004, section 3).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import intersect_only
from ppdm_flow.mining.itemsets.output import (
    DEPTH,
    HIGH,
    ITEM,
    LOW,
    SUPPORT,
    ItemsetOutput,
    append,
    deeper,
    full,
    push,
    wider,
)
from ppdm_flow.mining.itemsets.search import (
    WORDS_A_ROW,
    RankBuffers,
    RankedRows,
    clear,
    count_later,
    listed,
    scratch,
    spread,
    weight,
)
from ppdm_flow.sdk.compiled import borrowed, compiled, wide

Items = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@compiled
def lists(
    data: RankedRows, s: RankBuffers, rows: Items, prefix: Items, depth: int, last: int, out: ItemsetOutput
) -> ItemsetOutput:
    """Find all extensions, by items after ``last``, of the first ``depth`` items of ``prefix``, which is in ``rows``.

    What waits on the stack has its rows in ``pool``, in the same order: below an itemset that is taken off, nothing is
    needed any more.
    """
    s, prefix = borrowed(s), borrowed(prefix)
    pool = np.empty(max(1024, 4 * len(rows)), dtype=np.int32)
    pool[: len(rows)] = rows
    stack = np.empty((256, 5), dtype=np.int64)
    waiting = push(stack, 0, last, depth, 0, 0, len(rows))
    while waiting and not full(out):
        waiting -= 1
        item, length, low, high = stack[waiting, ITEM], stack[waiting, DEPTH], stack[waiting, LOW], stack[waiting, HIGH]
        if length > depth:
            prefix[length - 1] = item
            out = append(out, prefix, length, stack[waiting, SUPPORT])
        if length >= data.longest:
            continue
        met = count_later(data, s, pool, low, high, item)
        kept, end = 0, high
        for i in range(met):
            later = s.met[i]
            if s.weight[later] >= data.least:
                s.met[kept] = later
                kept += 1
                s.at[later] = end
                end += s.size[later]
            else:
                clear(s, later)
        pool = wider(pool, end)
        spread(data, s, pool, low, high, item)
        stack = deeper(stack, waiting + kept)
        for i in range(kept):
            later = s.met[i]
            waiting = push(stack, waiting, later, length + 1, s.weight[later], s.at[later] - s.size[later], s.at[later])
            clear(s, later)
    return out


@compiled
def search(data: RankedRows, out: ItemsetOutput) -> ItemsetOutput:
    """Find all itemsets of at least the least support and at most the greatest length; sets come out unsorted."""
    data = borrowed(data)
    s = scratch(data)
    height = min(data.longest, data.ranks)
    prefix = np.empty(height + 1, dtype=np.int32)
    rows = np.arange(len(data.weights)).astype(np.int32)
    if len(data.bits) == 0:
        return lists(data, s, rows, prefix, wide(0), wide(-1), out)
    words = data.bits.shape[1]
    occurs = np.empty((height + 1, words), dtype=np.uint64)
    later = np.empty(max(1, 2 * data.ranks), dtype=np.int32)
    stack = np.empty((data.ranks, 5), dtype=np.int64)
    everywhere = np.zeros(words, dtype=np.uint64)
    for row in rows:
        everywhere[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    for rank in range(data.ranks):
        later[rank] = rank
        push(stack, rank, rank, 1, weight(data, everywhere, data.bits[rank]), rank + 1, data.ranks)
    occurs[0] = everywhere
    waiting = data.ranks
    while waiting and not full(out):
        waiting -= 1
        item, length, low, high = stack[waiting, ITEM], stack[waiting, DEPTH], stack[waiting, LOW], stack[waiting, HIGH]
        prefix[length - 1] = item
        out = append(out, prefix, length, stack[waiting, SUPPORT])
        if length >= data.longest or low == high:
            continue
        mine = occurs[length]
        intersect_only(occurs[length - 1], data.bits[item], mine)
        if stack[waiting, SUPPORT] * WORDS_A_ROW <= (high - low) * words:
            out = lists(data, s, rows[: listed(mine, rows)], prefix, wide(length), wide(item), out)
            continue
        later = wider(later, high + high - low)
        end = high
        for i in range(low, high):
            support = weight(data, mine, data.bits[later[i]])
            if support >= data.least:
                later[end] = later[i]
                s.weight[later[i]] = support
                end += 1
        stack = deeper(stack, waiting + end - high)
        for i in range(high, end):
            waiting = push(stack, waiting, later[i], length + 1, s.weight[later[i]], i + 1, end)
            s.weight[later[i]] = 0
    return out
