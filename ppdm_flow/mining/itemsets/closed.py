"""Closed frequent itemsets, depth first by prefix-preserving closure extension.

Uno, Kiyomi, Arimura, "LCM ver. 2: efficient mining algorithms for frequent/closed/maximal itemsets", FIMI 2004: each
closed set is found once, from the one set of which it is the closure of an extension by its core item, and none is
stored to be looked up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import Words, intersect_only, lowest, within
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.mining.itemsets.output import (
    DEPTH,
    HIGH,
    ITEM,
    LOW,
    SUPPORT,
    ItemsetOutput,
    Stack,
    append,
    deeper,
    full,
    push,
    wider,
)
from ppdm_flow.mining.itemsets.search import (
    RankBuffers,
    RankedRows,
    SearchBuffers,
    clear,
    count_later,
    listed,
    scratch,
    spread,
    weight,
)
from ppdm_flow.sdk.compiled import borrowed, compiled

Items = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

FEW = 32
"""So many rows narrow a closure down before bit vectors of whole items are compared."""
BROKEN = -1


@inlined
def narrow(data: RankedRows, alive: Items, count: int, row: int) -> int:
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
def others(data: RankedRows, row: int, core: int, member: Items, alive: Items) -> int:
    """Write the items of ``row`` that are neither in the set nor its core to ``alive``; return how many."""
    count = 0
    for j in range(data.begin[row], data.begin[row + 1]):
        item = data.items[j]
        if item != core and not member[item]:
            alive[count] = item
            count += 1
    return count


@inlined
def closure_of_rows(data: RankedRows, rows: Items, core: int, member: Items, alive: Items) -> int:
    """Write what else all ``rows`` have to ``alive``; return how many items, or ``BROKEN`` if one precedes the core."""
    count = others(data, rows[0], core, member, alive)
    for k in range(1, len(rows)):
        if count == 0:
            return 0
        count = narrow(data, alive, count, rows[k])
    if count and alive[0] < core:
        return BROKEN
    return count


@inlined
def closure_of_bits(data: RankedRows, occurs: Words, rows: Items, core: int, member: Items, alive: Items) -> int:
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


@inlined
def leave(prefix: Items, member: Items, length: int, held: int) -> None:
    """Shorten the set to its first ``length`` items."""
    for i in range(length, held):
        member[prefix[i]] = 0


@inlined
def push_later(s: RankBuffers, stack: Stack, waiting: int, later: Items, low: int, high: int, depth: int) -> int:
    """Let the extensions by ``later[low:high]`` of a set of ``depth`` items wait; return the next line."""
    for i in range(low, high):
        waiting = push(stack, waiting, later[i], depth, s.weight[later[i]], i + 1, high)
        s.weight[later[i]] = 0
    return waiting


@compiled
def lists(
    data: RankedRows,
    s: RankBuffers,
    rows: Items,
    prefix: Items,
    member: Items,
    alive: Items,
    depth: int,
    core: int,
    out: ItemsetOutput,
) -> ItemsetOutput:
    """Find the closed extensions of the closed set ``prefix[:depth]``, which is in ``rows``.

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
            leave(prefix, member, length, held)
            held = length
            more = closure_of_rows(data, borrowed(pool)[low:high], item, member, alive)
            if more == BROKEN:
                continue
            held = enter(prefix, member, held, length, item, alive, more)
            if held > data.longest:
                continue
            out = append(out, prefix, held, stack[waiting, SUPPORT])
        first = False
        met = count_later(data, s, borrowed(pool), low, high, item)
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
        spread(data, s, borrowed(pool), low, high, item)  # the pool is held: the next turn needs it
        stack = deeper(stack, waiting + kept)
        for i in range(kept):
            later = s.met[i]
            waiting = push(stack, waiting, later, held, s.weight[later], s.at[later] - s.size[later], s.at[later])
            clear(s, later)
    leave(prefix, member, depth, held)
    return out


@inlined
def everywhere(data: RankedRows, out: Words) -> int:
    """Set the bits of all rows; return the length of the longest row."""
    longest = 1
    out[:] = 0
    for row in range(len(data.weights)):
        out[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        longest = max(longest, data.begin[row + 1] - data.begin[row])
    return longest


@inlined
def test_later(
    data: RankedRows, s: RankBuffers, occurs: Words, later: Items, low: int, high: int, member: Items
) -> int:
    """Write those of ``later[low:high]`` that are frequent with ``occurs`` from ``high`` on; return where they end."""
    end = high
    for i in range(low, high):
        if not member[later[i]]:
            support = weight(data, occurs, data.bits[later[i]])
            if support >= data.least:
                later[end] = later[i]
                s.weight[later[i]] = support
                end += 1
    return end


@inlined
def close(
    data: RankedRows, occurs: Words, sparse: bool, rows: Items, core: int, member: Items, alive: Items
) -> tuple[int, int]:
    """Write the closure of the core to ``alive`` and (some) rows to ``rows``; return how many there are of both."""
    if sparse:
        few = listed(occurs, rows)
        return closure_of_rows(data, rows[:few], core, member, alive), few
    few = some(occurs, rows)
    return closure_of_bits(data, occurs, rows[:few], core, member, alive), few


@compiled
def search(data: RankedRows, out: ItemsetOutput) -> ItemsetOutput:
    """Find all closed itemsets of at least the least support and at most the greatest length."""
    data = borrowed(data)
    mine = np.zeros(data.planes.shape[1], dtype=np.uint64)
    longest = everywhere(data, mine) if len(data.bits) else 0
    room = SearchBuffers(
        scratch(data),
        np.empty(data.ranks + 1, dtype=np.int32),
        np.empty(data.ranks + 1, dtype=np.int32),
        np.zeros(data.ranks, dtype=np.int32),
        np.arange(len(data.weights)).astype(np.int32),
        mine,
        np.zeros((longest + 1, len(mine)), dtype=np.uint64),
    )
    return _searched(data, room, out)


@compiled
def _searched(data: RankedRows, room: SearchBuffers, out: ItemsetOutput) -> ItemsetOutput:
    """Search: the caller holds what is borrowed until this is over."""
    s, prefix, alive, member, rows, mine, occurs = borrowed(room)
    more = closure_of_rows(data, rows, BROKEN, member, alive)
    none = int(np.int64(0))  # no literal: for that Numba would compile `enter` once more
    held = none
    if more:
        held = enter(prefix, member, none, none, int(np.int64(alive[0])), alive[1:], more - 1)
        if held <= data.longest:
            out = append(out, prefix, held, data.weights.sum())
    if len(data.bits) == 0:
        return lists(data, s, rows, prefix, member, alive, held, none + BROKEN, out)
    occurs[held] = mine
    later = np.empty(2 * data.ranks, dtype=np.int32)
    later[: data.ranks] = np.arange(data.ranks)
    stack = np.empty((data.ranks, 5), dtype=np.int64)
    end = test_later(data, s, mine, later, 0, data.ranks, member)
    waiting = push_later(s, stack, 0, later, data.ranks, end, held)
    while waiting and not full(out):
        waiting -= 1
        item, length, low, high = stack[waiting, ITEM], stack[waiting, DEPTH], stack[waiting, LOW], stack[waiting, HIGH]
        leave(prefix, member, length, held)
        held = length
        intersect_only(occurs[length], data.bits[item], mine)
        sparse = stack[waiting, SUPPORT] <= data.sparse
        more, few = close(data, mine, sparse, rows, item, member, alive)
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
        end = test_later(data, s, mine, later, low, high, member)
        stack = deeper(stack, waiting + end - high)
        waiting = push_later(s, stack, waiting, later, high, end, held)
    return out
