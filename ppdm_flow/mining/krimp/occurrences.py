"""Which rows an itemset may cover: intersections of bit vectors, of rare items by their lists of rows."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.bits import Words, intersect_only, lowest
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.mining.krimp.state import State

NONE = -1


@inlined
def rarest(s: State, x: int) -> int:
    """Return the rarest of the items that have no bit vector, or ``NONE`` if all have one."""
    rarest_item = NONE
    for i in range(s.length[x]):
        item = s.items[x, i]
        if s.line[item] < 0 and (
            rarest_item == NONE or s.begin[item + 1] - s.begin[item] < s.begin[rarest_item + 1] - s.begin[rarest_item]
        ):
            rarest_item = item
    return int(rarest_item)


@inlined
def rows_with(s: State, x: int, item: int) -> int:
    """Write the rows that have all items of ``x`` to ``hits``, looking through those of ``item``; return how many."""
    count = 0
    for k in range(s.begin[item], s.begin[item + 1]):
        row = s.rows[k]
        all_there = True
        for i in range(s.length[x]):
            other = s.items[x, i]
            if s.cells[row, s.place[other]] != other:
                all_there = False
                break
        if all_there:
            s.hits[count] = row
            count += 1
    return count


@inlined
def intersect_level(s: State, x: int, level: int, out: Words) -> None:
    """Write the rows in which the items of ``x`` are all free on a level to ``out``."""
    lines = s.free[level]
    intersect_only(lines[s.line[s.items[x, 0]]], lines[s.line[s.items[x, 1]]], out)
    for i in range(2, s.length[x]):
        intersect_only(out, lines[s.line[s.items[x, i]]], out)


@inlined
def exclude_level(s: State, x: int, level: int) -> None:
    """Take from ``some`` the rows in which an item of ``x`` is free on a level."""
    lines = s.free[level]
    for i in range(s.length[x]):
        line = lines[s.line[s.items[x, i]]]
        for w in range(len(line)):
            s.some[w] &= ~line[w]


@inlined
def list_rows(s: State) -> int:
    """Write the rows in ``some`` to ``hits``; return how many."""
    count = 0
    for w in range(len(s.some)):
        word = s.some[w]
        while word:
            s.hits[count] = 64 * w + np.int64(lowest(word))
            count += 1
            word &= word - np.uint64(1)
    return count


@inlined
def rows_using(s: State, x: int) -> int:
    """Write rows to ``hits`` among which are all that use element ``x``; return how many."""
    item = rarest(s, x)
    if item != NONE:
        return rows_with(s, x, item)
    top = len(s.free) - 1
    level = min(s.length[x] - 1, top)
    intersect_level(s, x, level, s.some)
    if s.length[x] - 2 < top:
        exclude_level(s, x, s.length[x] - 2)
    return list_rows(s)


@inlined
def rows_containing(s: State, x: int) -> int:
    """Write the rows that have all items of ``x`` to ``hits``; return how many."""
    item = rarest(s, x)
    if item != NONE:
        return rows_with(s, x, item)
    intersect_level(s, x, len(s.free) - 1, s.some)
    return list_rows(s)
