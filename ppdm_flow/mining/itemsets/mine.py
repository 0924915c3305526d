"""Frequent itemsets of a database: the entry to both searches."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import (
    WORDS_A_ROW,
    ItemDatabase,
    RankBuffers,
    RankedRows,
    SearchBuffers,
    Words,
    clear,
    count_later,
    intersect_only,
    listed,
    lowest,
    prepare,
    prepare_rows,
    scratch,
    spread,
    weight,
    within,
)
from ppdm_flow.mining.itemsets.kernels import (
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
    inlined,
    push,
    sort_within,
    wider,
)
from ppdm_flow.sdk.compiled import borrowed, compiled, wide

MOST_SETS = 50_000_000
ITEMS_A_SET = 12
"""How many items the itemsets may have on average, where there are as many as are looked for: what memory holds."""
Items = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


def least_rows(minimum: float, rows: int) -> int:
    """Turn a minimum support into a count: itself where it is an integer, else a share of ``rows``, rounded up.

    Raises ValueError for a count below 1 and a share outside of (0, 1].
    """
    if isinstance(minimum, int):
        if minimum < 1:
            raise ValueError(f"a minimum support in rows must be at least 1, got {minimum!r}")
        return minimum
    if not 0 < minimum <= 1:
        raise ValueError(f"a minimum support given as a share must be in (0, 1], got {minimum!r}")
    return max(1, math.ceil(minimum * rows * (1 - 1e-12)))


def mine(
    database: ItemDatabase,
    min_support: float,
    *,
    only_closed: bool = False,
    min_length: int = 1,
    max_length: int | None = None,
    most: int = MOST_SETS,
) -> ItemsetCollection:
    """Return the itemsets that at least ``min_support`` rows have (an int is a count, a float a share of the rows).

    ``only_closed``: those without a superset of equal support. ``most`` bounds how many are looked for: PluginError
    PPF775 if there are more, or as many items in them as memory holds. None are found, rightly, where ``min_support``
    is above the number of rows. Unordered.
    """
    least = least_rows(min_support, database.rows)
    longest = database.cells.shape[1] if max_length is None else max_length
    if longest < 1 or min_length > longest or not (database.supports >= least).any():
        return _nothing()
    return _searched(*prepare(database, least, longest), only_closed, most).of_length(min_length)


def mine_transactions(
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
    min_support: float,
    *,
    alphabet: int | None = None,
    only_closed: bool = False,
    min_length: int = 1,
    max_length: int | None = None,
    most: int = MOST_SETS,
) -> ItemsetCollection:
    """Do what :func:`mine` does with transactions as they come: fast where rows are many and short.

    Row r has ``items[offsets[r]:offsets[r + 1]]``; repeated items count once. Raises ValueError for no rows, and for an
    item below 0 or not below ``alphabet``.
    """
    rows = len(offsets) - 1
    size = int(items.max(initial=-1)) + 1 if alphabet is None else alphabet
    if rows < 1:
        raise ValueError("a database without rows cannot be mined: offsets must have at least 2 entries")
    if len(items) and (items.min() < 0 or items.max() >= size):
        raise ValueError(f"items must be from 0 to {size - 1}: one is outside of the alphabet")
    least = least_rows(min_support, rows)
    offsets, items = _distinct(offsets, items, size)
    supports = np.bincount(items, minlength=size).astype(np.int64)
    longest = int(np.diff(offsets).max()) if max_length is None else max_length
    if longest < 1 or min_length > longest or not (supports >= least).any():
        return _nothing()
    return _searched(*prepare_rows(offsets, items, supports, least, longest), only_closed, most).of_length(min_length)


def _distinct(
    offsets: npt.NDArray[np.int64], items: npt.NDArray[np.int32], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the rows with each item once; as they are where items ascend in each row."""
    rising = items[1:] > items[:-1]
    rising[offsets[(offsets > 0) & (offsets < len(items))] - 1] = True
    if rising.all():
        return offsets, items
    rows = np.arange(len(offsets) - 1)
    keys = np.sort(np.repeat(rows * size, np.diff(offsets)) + items)
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    return np.searchsorted(keys, np.arange(len(offsets)) * size).astype(np.int64), (keys % size).astype(np.int32)


def _searched(data: RankedRows, item_of: npt.NDArray[np.int32], only_closed: bool, most: int) -> ItemsetCollection:
    search: Callable[[RankedRows, ItemsetOutput], ItemsetOutput] = search_closed if only_closed else search_frequent
    out = search(data, _room(most))
    sets, filled = int(out.used[0]), int(out.used[1])
    if sets > most or filled >= int(out.used[3]):
        raise too_many(most, data.least)
    items, ends = item_of[out.items[:filled]], out.ends[:sets]
    sort_within(items, ends)
    return ItemsetCollection(np.concatenate([[0], ends]), items, out.supports[:sets].copy())


def too_many(most: int, least: int) -> PluginError:
    """Build the error for more itemsets than fit in memory."""
    return PluginError(
        Diagnostic(
            "PPF775",
            f"more than {most} itemsets, or very long ones, have a support of at least {least}",
            help="raise the minimum support, take closed itemsets, bound their length, or use SLIM",
        )
    )


def _nothing() -> ItemsetCollection:
    none: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    return ItemsetCollection(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none)


def _room(most: int) -> ItemsetOutput:
    return ItemsetOutput(
        np.empty(4096, dtype=np.int32),
        np.empty(1024, dtype=np.int64),
        np.empty(1024, dtype=np.int64),
        np.array([0, 0, most + 1, ITEMS_A_SET * max(most, 1 << 16)], dtype=np.int64),
    )


# Closed frequent itemsets, depth first by prefix-preserving closure extension.
#
# Uno, Kiyomi, Arimura, "LCM ver. 2: efficient mining algorithms for frequent/closed/maximal itemsets", FIMI 2004: each
# closed set is found once, from the one set of which it is the closure of an extension by its core item, and none is
# stored to be looked up.


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
def enter(prefix: Items, member: Items, prefix_length: int, length: int, core: int, alive: Items, more: int) -> int:
    """Replace what follows the first ``length`` items of ``prefix`` by the core and its closure; return the length."""
    for i in range(length, prefix_length):
        member[prefix[i]] = 0
    prefix[length] = core
    for i in range(more):
        prefix[length + 1 + i] = alive[i]
    for i in range(length, length + 1 + more):
        member[prefix[i]] = 1
    return length + 1 + more


@inlined
def leave(prefix: Items, member: Items, length: int, prefix_length: int) -> None:
    """Shorten the set to its first ``length`` items."""
    for i in range(length, prefix_length):
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
    waiting, prefix_length, first = push(stack, 0, core, depth, 0, 0, len(rows)), depth, True
    while waiting and not full(out):
        waiting -= 1
        item, length, low, high = stack[waiting, ITEM], stack[waiting, DEPTH], stack[waiting, LOW], stack[waiting, HIGH]
        if not first:
            leave(prefix, member, length, prefix_length)
            prefix_length = length
            more = closure_of_rows(data, borrowed(pool)[low:high], item, member, alive)
            if more == BROKEN:
                continue
            prefix_length = enter(prefix, member, prefix_length, length, item, alive, more)
            if prefix_length > data.longest:
                continue
            out = append(out, prefix, prefix_length, stack[waiting, SUPPORT])
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
            waiting = push(
                stack, waiting, later, prefix_length, s.weight[later], s.at[later] - s.size[later], s.at[later]
            )
            clear(s, later)
    leave(prefix, member, depth, prefix_length)
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
def search_closed(data: RankedRows, out: ItemsetOutput) -> ItemsetOutput:
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
    return _closed_searched(data, room, out)


@compiled
def _closed_searched(data: RankedRows, room: SearchBuffers, out: ItemsetOutput) -> ItemsetOutput:
    """Search: the caller holds what is borrowed until this is over."""
    s, prefix, alive, member, rows, mine, occurs = borrowed(room)
    more = closure_of_rows(data, rows, BROKEN, member, alive)
    none = int(np.int64(0))  # no literal: for that Numba would compile `enter` once more
    prefix_length = none
    if more:
        prefix_length = enter(prefix, member, none, none, int(np.int64(alive[0])), alive[1:], more - 1)
        if prefix_length <= data.longest:
            out = append(out, prefix, prefix_length, data.weights.sum())
    if len(data.bits) == 0:
        return lists(data, s, rows, prefix, member, alive, prefix_length, none + BROKEN, out)
    occurs[prefix_length] = mine
    later = np.empty(2 * data.ranks, dtype=np.int32)
    later[: data.ranks] = np.arange(data.ranks)
    stack = np.empty((data.ranks, 5), dtype=np.int64)
    end = test_later(data, s, mine, later, 0, data.ranks, member)
    waiting = push_later(s, stack, 0, later, data.ranks, end, prefix_length)
    while waiting and not full(out):
        waiting -= 1
        item, length, low, high = stack[waiting, ITEM], stack[waiting, DEPTH], stack[waiting, LOW], stack[waiting, HIGH]
        leave(prefix, member, length, prefix_length)
        prefix_length = length
        intersect_only(occurs[length], data.bits[item], mine)
        sparse = stack[waiting, SUPPORT] <= data.sparse
        more, few = close(data, mine, sparse, rows, item, member, alive)
        if more == BROKEN:
            continue
        prefix_length = enter(prefix, member, prefix_length, length, item, alive, more)
        if prefix_length > data.longest:
            continue
        out = append(out, prefix, prefix_length, stack[waiting, SUPPORT])
        if sparse:
            out = lists(data, s, rows[:few], prefix, member, alive, prefix_length, item, out)
            continue
        occurs[prefix_length] = mine
        later = wider(later, high + high - low)
        end = test_later(data, s, mine, later, low, high, member)
        stack = deeper(stack, waiting + end - high)
        waiting = push_later(s, stack, waiting, later, high, end, prefix_length)
    return out


# All frequent itemsets, depth first: Eclat on bit vectors, then on lists of rows where few are left.
#
# Zaki, "Scalable algorithms for association mining", TKDE 12 (2000). On lists, one pass over the rows delivers the
# occurrences of all extensions (Uno, Kiyomi, Arimura, "LCM ver. 2", FIMI 2004, section 3).


@compiled
def frequent_lists(
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
def search_frequent(data: RankedRows, out: ItemsetOutput) -> ItemsetOutput:
    """Find all itemsets of at least the least support and at most the greatest length; sets come out unsorted."""
    data = borrowed(data)
    s = scratch(data)
    height = min(data.longest, data.ranks)
    prefix = np.empty(height + 1, dtype=np.int32)
    rows = np.arange(len(data.weights)).astype(np.int32)
    if len(data.bits) == 0:
        return frequent_lists(data, s, rows, prefix, wide(0), wide(-1), out)
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
            out = frequent_lists(data, s, rows[: listed(mine, rows)], prefix, wide(length), wide(item), out)
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
