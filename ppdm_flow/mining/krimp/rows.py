"""Covering one row again, with an element more or less, and keeping what came out.

An element changes nothing before its own place in cover order, and nothing after the point at which the cells left
with and without it are the same again.
"""

from __future__ import annotations

from ppdm_flow.mining.itemsets.bits import lowest
from ppdm_flow.mining.krimp.state import HEAD, SAME, TAIL, TOUCHED, State
from ppdm_flow.mining.itemsets.inlined import inlined

import numpy as np


@inlined
def note(s: State, code: int, by: int) -> None:
    """Add to the change on trial: the usage of an element (by slot) or singleton (after all slots)."""
    if not s.marked[code]:
        s.marked[code] = 1
        s.touched[s.numbers[TOUCHED]] = code
        s.numbers[TOUCHED] += 1
    s.change[code] += by


@inlined
def first_from(s: State, row: int, rank: int) -> int:
    """Return the place in the pool of the row's first element of this rank or later."""
    low = s.at[row]
    high = low + s.held[row]
    while low < high:
        middle = (low + high) >> 1
        if s.rank[s.pool[middle]] < rank:
            low = middle + 1
        else:
            high = middle
    return int(low)


@inlined
def cover_again(s: State, row: int, x: int, where: int, adding: bool, noting: bool) -> bool:
    """Cover a row as it would be with element ``x`` at rank ``where``, or without it; return whether that differs.

    The new cover is the first ``HEAD`` elements of the old one, then ``tail[:TAIL]``; what is left is in ``new``.
    """
    words = s.mask.shape[1]
    slots = len(s.length)
    count = s.covers[row]
    cover = s.cover[row]
    for w in range(words):
        s.old[w] = s.present[row, w]
    j = 0
    while j < count and s.rank[cover[j]] < where:
        for w in range(words):
            s.old[w] &= ~s.mask[cover[j], w]
        j += 1
    if adding:
        for w in range(words):
            if s.mask[x, w] & ~s.old[w]:
                return False
            s.new[w] = s.old[w] & ~s.mask[x, w]
    else:
        if j == count or cover[j] != x:
            return False
        for w in range(words):
            s.new[w] = s.old[w]
            s.old[w] &= ~s.mask[x, w]
    s.numbers[HEAD] = j
    mass = s.weights[row]
    filled = 0
    if adding:
        s.tail[0] = x
        filled = 1
    else:
        j += 1
    if noting:
        note(s, x, mass if adding else -mass)
    end = s.at[row] + s.held[row]
    same = False
    for k in range(first_from(s, row, where if adding else where + 1), end):
        e = s.pool[k]
        used = j < count and cover[j] == e
        fits = True
        for w in range(words):
            if s.mask[e, w] & ~s.new[w]:
                fits = False
                break
        if not (used or fits):
            continue
        if fits:
            s.tail[filled] = e
            filled += 1
            for w in range(words):
                s.new[w] &= ~s.mask[e, w]
        if used:
            j += 1
            for w in range(words):
                s.old[w] &= ~s.mask[e, w]
        if used != fits:
            if noting:
                note(s, e, mass if fits else -mass)
            same = True
            for w in range(words):
                if s.old[w] != s.new[w]:
                    same = False
                    break
            if same:
                break
    if same:
        while j < count:
            s.tail[filled] = cover[j]
            filled += 1
            j += 1
    elif noting:
        for w in range(words):
            left = s.old[w] ^ s.new[w]
            while left:
                place = np.int64(lowest(left))
                gone = (s.old[w] >> np.uint64(place)) & np.uint64(1)
                note(s, slots + s.cells[row, 64 * w + place], -mass if gone else mass)
                left &= left - np.uint64(1)
    s.numbers[TAIL] = filled
    s.numbers[SAME] = same
    return True


@inlined
def keep(s: State, row: int) -> None:
    """Make the cover that was found last the row's own, and move its cells to the levels where they are covered now."""
    head = s.numbers[HEAD]
    for j in range(head, s.covers[row]):
        e = s.cover[row, j]
        for i in range(s.length[e]):
            s.before[s.place[s.items[e, i]]] = s.length[e]
    for j in range(s.numbers[TAIL]):
        e = s.tail[j]
        for i in range(s.length[e]):
            s.after[s.place[s.items[e, i]]] = s.length[e]
    for j in range(head, s.covers[row]):
        _level(s, row, s.cover[row, j])
    for j in range(s.numbers[TAIL]):
        _level(s, row, s.tail[j])
        s.cover[row, head + j] = s.tail[j]
    s.covers[row] = head + s.numbers[TAIL]
    if not s.numbers[SAME]:
        for w in range(s.mask.shape[1]):
            s.single[row, w] = s.new[w]


@inlined
def _level(s: State, row: int, e: int) -> None:
    """Flip an element's cells on the levels between the lengths that cover them before and after."""
    top = len(s.free) - 1
    bit = np.uint64(1) << np.uint64(row & 63)
    for i in range(s.length[e]):
        item = s.items[e, i]
        place = s.place[item]
        a, b = s.before[place], s.after[place]
        s.before[place] = 1
        s.after[place] = 1
        if a != b and s.line[item] >= 0:
            for level in range(min(a, b) - 1, min(max(a, b) - 1, top)):
                s.free[level, s.line[item], row >> 6] ^= bit
