"""Closed frequent itemsets, depth first by prefix-preserving closure extension.

Uno, Kiyomi, Arimura, "LCM ver. 2: efficient mining algorithms for frequent/closed/maximal itemsets", FIMI 2004: each
closed set is found once, from the one set of which it is the closure of an extension by its core item, and none is
stored to be looked up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import Words, intersect_only, lowest, within
from ppdm_flow.mining.itemsets.output import Output, append, full, wider
from ppdm_flow.mining.itemsets.search import Data, Scratch, clear, count_later, listed, scratch, spread, weight
from ppdm_flow.mining.itemsets.stack import DEPTH, HIGH, ITEM, LOW, SUPPORT, deeper, push
from ppdm_flow.mining.itemsets.inlined import inlined
from ppdm_flow.sdk.compiled import compiled, tolerant

Items = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

FEW = 32
"""So many rows narrow a closure down before bit vectors of whole items are compared."""
BROKEN = -1


@inlined
def narrow(data: Data, alive: Items, count: int, row: int) -> int:
    """Keep of ``alive[:count]``, ascending, what is in ``row``; return how many."""
    j, end = data.begin[row], data.begin[row + 1]
    kept = 0
    for i in range(count):
        while j < end and data.items[j] < alive[i]:
            j += 1
        if j == end:
            break
        if data.items[j] == alive[i]:
            alive[kept] = alive[i]
            kept += 1
    return kept


@inlined
def others(data: Data, row: int, core: int, member: Items, alive: Items) -> int:
    """Write the items of ``row`` that are neither in the set nor its core to ``alive``; return how many."""
    count = 0
    for j in range(data.begin[row], data.begin[row + 1]):
        item = data.items[j]
        if item != core and not member[item]:
            alive[count] = item
            count += 1
    return count


@inlined
def closure_of_rows(data: Data, rows: Items, core: int, member: Items, alive: Items) -> int:
    """Write what else is in all ``rows`` to ``alive``; return how many items, or ``BROKEN`` if one precedes the core."""
    count = others(data, rows[0], core, member, alive)
    for k in range(1, len(rows)):
        if count == 0:
            return 0
        count = narrow(data, alive, count, rows[k])
    if count and alive[0] < core:
        return BROKEN
    return count


@inlined
def closure_of_bits(data: Data, occurs: Words, rows: Items, core: int, member: Items, alive: Items) -> int:
    """Do the same for rows in bits, of which ``rows`` are the first ones."""
    count = others(data, rows[0], core, member, alive)
    for k in range(1, len(rows)):
        if count == 0:
            return 0
        count = narrow(data, alive, count, rows[k])
    kept = 0
    for i in range(count):
        if within(occurs, data.bits[alive[i]]):
            if alive[i] < core:
                return BROKEN
            alive[kept] = alive[i]
            kept += 1
    return kept


@inlined
def some(words: Words, out: Items) -> int:
    """Write the positions of the first few ones to ``out``; return how many."""
    count = 0
    for w in range(len(words)):
        word = words[w]
        while word and count < FEW:
            out[count] = 64 * w + np.int64(lowest(word))
            count += 1
            word &= word - np.uint64(1)
        if count == FEW:
            break
    return count


@inlined
def enter(prefix: Items, member: Items, held: int, length: int, core: int, alive: Items, more: int) -> int:
    """Replace what follows the first ``length`` items of ``prefix`` by the core and its closure; return the length."""
    for i in range(length, held):
        member[prefix[i]] = 0
    prefix[length] = core
    for i in range(more):
        prefix[length + 1 + i] = alive[i]
    for i in range(length, length + 1 + more):
        member[prefix[i]] = 1
    return length + 1 + more


@compiled
def lists(
    data: Data, s: Scratch, rows: Items, prefix: Items, member: Items, alive: Items, depth: int, core: int, out: Output
) -> Output:
    """Find the closed extensions of the closed set ``prefix[:depth]``, which is in ``rows``; leave ``prefix`` as it was.

    What waits is an extension that is frequent, not known yet to preserve the prefix.
    """
    pool = np.empty(max(1024, 4 * len(rows)), dtype=np.int32)
    pool[: len(rows)] = rows
    stack = np.empty((256, 5), dtype=np.int64)
    waiting, held, first = push(stack, 0, core, depth, 0, 0, len(rows)), depth, True
    while waiting and not full(out):
        waiting -= 1
        item, length, low, high = stack[waiting, ITEM], stack[waiting, DEPTH], stack[waiting, LOW], stack[waiting, HIGH]
        if not first:
            for i in range(length, held):
                member[prefix[i]] = 0
            held = length
            more = closure_of_rows(data, pool[low:high], item, member, alive)
            if more == BROKEN:
                continue
            held = enter(prefix, member, held, length, item, alive, more)
            if held > data.longest:
                continue
            out = append(out, prefix, held, stack[waiting, SUPPORT])
        first = False
        met = count_later(data, s, pool, low, high, item)
        kept, end = 0, high
        for i in range(met):
            later = s.met[i]
            if s.weight[later] >= data.least and not member[later]:
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
            waiting = push(stack, waiting, later, held, s.weight[later], s.at[later] - s.size[later], s.at[later])
            clear(s, later)
    for i in range(depth, held):
        member[prefix[i]] = 0
    return out


@tolerant
@compiled
def search(data: Data, out: Output) -> Output:
    """Find all closed itemsets of at least the least support and at most the greatest length."""
    s = scratch(data)
    prefix = np.empty(data.ranks + 1, dtype=np.int32)
    alive = np.empty(data.ranks + 1, dtype=np.int32)
    member = np.zeros(data.ranks, dtype=np.int32)
    count = len(data.weights)
    rows = np.arange(count).astype(np.int32)
    words = data.planes.shape[1]
    more = closure_of_rows(data, rows, -1, member, alive)
    held = 0
    if more:
        held = enter(prefix, member, 0, 0, alive[0], alive[1:], more - 1)
        if held <= data.longest:
            out = append(out, prefix, held, data.weights.sum())
    if len(data.bits) == 0:
        return lists(data, s, rows, prefix, member, alive, held, -1, out)
    deepest = 1
    for row in range(count):
        deepest = max(deepest, data.begin[row + 1] - data.begin[row])
    occurs = np.zeros((deepest + 2, words), dtype=np.uint64)
    for row in rows:
        occurs[held, row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    later = np.empty(max(1, 2 * data.ranks), dtype=np.int32)
    stack = np.empty((max(1, data.ranks), 5), dtype=np.int64)
    waiting, end = 0, 0
    for rank in range(data.ranks):
        if not member[rank]:
            later[end] = rank
            end += 1
    for i in range(end):
        waiting = push(stack, waiting, later[i], held, weight(data, occurs[held], data.bits[later[i]]), i + 1, end)
    while waiting and not full(out):
        waiting -= 1
        item, length, low, high = stack[waiting, ITEM], stack[waiting, DEPTH], stack[waiting, LOW], stack[waiting, HIGH]
        for i in range(length, held):
            member[prefix[i]] = 0
        held = length
        mine = occurs[deepest + 1]
        intersect_only(occurs[length], data.bits[item], mine)
        sparse = stack[waiting, SUPPORT] <= data.sparse
        if sparse:
            few = listed(mine, rows)
            more = closure_of_rows(data, rows[:few], item, member, alive)
        else:
            few = some(mine, rows)
            more = closure_of_bits(data, mine, rows[:few], item, member, alive)
        if more == BROKEN:
            continue
        held = enter(prefix, member, held, length, item, alive, more)
        if held > data.longest:
            continue
        out = append(out, prefix, held, stack[waiting, SUPPORT])
        if sparse:
            out = lists(data, s, rows[:few], prefix, member, alive, held, item, out)
            continue
        occurs[held] = mine
        later = wider(later, high + high - low)
        end = high
        for i in range(low, high):
            if not member[later[i]]:
                support = weight(data, mine, data.bits[later[i]])
                if support >= data.least:
                    later[end] = later[i]
                    s.weight[later[i]] = support
                    end += 1
        stack = deeper(stack, waiting + end - high)
        for i in range(high, end):
            waiting = push(stack, waiting, later[i], held, s.weight[later[i]], i + 1, end)
            s.weight[later[i]] = 0
    return out
