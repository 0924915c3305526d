"""Covering one row again, with an element more or less, and keeping what came out.

An element changes nothing before its own place in cover order, and nothing after the point at which the cells left
with and without it are the same again.
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.bits import Words, lowest
from ppdm_flow.mining.itemsets.kernels import inlined, part, spliced
from ppdm_flow.mining.krimp.pairs import codes_of, pair_again
from ppdm_flow.mining.krimp.state import HEAD, SAME, TAIL, TOUCHED, State


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
def fits(s: State, x: int, cells: Words) -> bool:
    """Whether all cells of an element are left."""
    for w in range(len(cells)):  # noqa: SIM110  # numba knows no generators
        if s.mask[x, w] & ~cells[w]:
            return False
    return True


@inlined
def take(s: State, x: int, cells: Words) -> None:
    """Take an element's cells from those left."""
    for w in range(len(cells)):
        cells[w] &= ~s.mask[x, w]


@inlined
def same(s: State) -> bool:
    """Whether ``old`` and ``new`` are the same."""
    for w in range(len(s.old)):  # noqa: SIM110  # numba knows no generators
        if s.old[w] != s.new[w]:
            return False
    return True


@spliced
def open_row(s: State, row: int, rank: int) -> int:
    """Write what a row's elements before ``rank`` leave to ``old`` and ``new``; return how many these are."""
    for w in range(len(s.old)):
        s.old[w] = s.present[row, w]
    j = 0
    while j < s.covers[row] and s.rank[s.cover[row, j]] < rank:
        take(s, s.cover[row, j], s.old)
        j += 1
    for w in range(len(s.old)):
        s.new[w] = s.old[w]
    return j


@spliced
def follow(s: State, row: int, j: int, start: int, noting: bool) -> None:
    """Cover on with the elements from ``pool[start]``, as it was (``cover`` from ``j``) and as it becomes."""
    count = s.covers[row]
    mass = s.weights[row]
    filled = s.numbers[TAIL]
    converged = False
    for k in range(start, s.at[row] + s.held[row]):
        e = np.int64(s.pool[k])
        used = j < count and s.cover[row, j] == e
        if fits(s, e, s.new):
            s.tail[filled] = e
            filled += 1
            take(s, e, s.new)
            by = 0 if used else mass
        elif used:
            by = -mass
        else:
            continue
        if used:
            j += 1
            take(s, e, s.old)
        if by:
            if noting:
                note(s, e, by)
            converged = same(s)
            if converged:
                break
    if converged:
        while j < count:
            s.tail[filled] = s.cover[row, j]
            filled += 1
            j += 1
    s.numbers[TAIL] = filled
    s.numbers[SAME] = converged


@spliced
def note_singletons(s: State, row: int) -> None:
    """Note which cells of a row are left to singletons, or are no more."""
    mass = s.weights[row]
    for w in range(len(s.old)):
        left = s.old[w] ^ s.new[w]
        while left:
            place = np.int64(lowest(left))
            gone = (s.old[w] >> np.uint64(place)) & np.uint64(1)
            note(s, np.int64(len(s.length) + s.cells[row, 64 * w + place]), -mass if gone else mass)
            left &= left - np.uint64(1)


@spliced
def cover_again(s: State, row: int, x: int, where: int, adding: bool, noting: bool) -> bool:
    """Cover a row as it would be with element ``x`` at rank ``where``, or without it; return whether that differs.

    The new cover is the first ``HEAD`` elements of the old one, then ``tail[:TAIL]``; what is left is in ``new``.
    """
    j = open_row(s, row, where)
    s.numbers[HEAD] = j
    if adding:
        if not fits(s, x, s.new):
            return False
        take(s, x, s.new)
        s.tail[0] = x
        s.numbers[TAIL] = 1
    else:
        if j == s.covers[row] or s.cover[row, j] != x:
            return False
        take(s, x, s.old)
        s.numbers[TAIL] = 0
        j += 1
        where += 1
    if noting:
        note(s, x, s.weights[row] if adding else -s.weights[row])
    follow(s, row, j, first_from(s, row, where), noting)
    if noting and not s.numbers[SAME]:
        note_singletons(s, row)
    return True


@spliced
def keep(s: State, row: int) -> None:
    """Make the cover that was found last the row's own, and move its cells to the levels where they are covered now."""
    held = codes_of(s, row, s.was) if len(s.pairs) else 0
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
    if len(s.pairs):
        pair_again(s, held, codes_of(s, row, s.now), s.weights[row])


@spliced
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


@part
def cover_rows(s: State, count: int, x: int, where: int, adding: bool, noting: bool) -> None:
    """Cover the rows in ``hits[:count]`` as they would be with ``x`` at rank ``where``, or without it.

    With ``noting`` the usages that this moves become the change on trial, else the rows keep their new covers. All that
    covers a row is called from here alone: it is compiled into each of its callers.
    """
    for k in range(count):
        row = np.int64(s.hits[k])
        if cover_again(s, row, x, where, adding, noting) and not noting:
            keep(s, row)
