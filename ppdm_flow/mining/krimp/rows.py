"""Covering one row again, with an element more or less, and keeping what came out.

An element changes nothing before its own place in cover order, and nothing after the point at which the cells left
with and without it are the same again.
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.bits import Words, lowest
from ppdm_flow.mining.itemsets.kernels import inlined, part, spliced
from ppdm_flow.mining.krimp.pairs import codes_of, pair_again
from ppdm_flow.mining.krimp.state import HEAD, SAME, TAIL, TOUCHED, CodePairs, KrimpData, KrimpTable, RowCovers, Trial
from ppdm_flow.sdk.compiled import wide

WITHOUT, WITH = range(2)
"""Whether rows are covered with an element more, or less."""
KEEP, NOTE = range(2)
"""Whether rows keep their new covers, or the usages that these would move are only noted."""


@inlined
def note(trial: Trial, code: int, by: int) -> None:
    """Add to the change on trial: the usage of an element (by slot) or singleton (after all slots)."""
    if not trial.marked[code]:
        trial.marked[code] = 1
        trial.touched[trial.numbers[TOUCHED]] = code
        trial.numbers[TOUCHED] += 1
    trial.change[code] += by


@inlined
def first_from(table: KrimpTable, covered: RowCovers, row: int, rank: int) -> int:
    """Return the place in the pool of the row's first element of this rank or later."""
    low = covered.at[row]
    high = low + covered.held[row]
    while low < high:
        middle = (low + high) >> 1
        if table.rank[covered.pool[middle]] < rank:
            low = middle + 1
        else:
            high = middle
    return int(low)


@inlined
def fits(table: KrimpTable, x: int, cells: Words) -> bool:
    """Whether all cells of an element are left."""
    for w in range(len(cells)):  # noqa: SIM110  # numba knows no generators
        if table.mask[x, w] & ~cells[w]:
            return False
    return True


@inlined
def take(table: KrimpTable, x: int, cells: Words) -> None:
    """Take an element's cells from those left."""
    for w in range(len(cells)):
        cells[w] &= ~table.mask[x, w]


@inlined
def same(trial: Trial) -> bool:
    """Whether ``old`` and ``new`` are the same."""
    for w in range(len(trial.old)):  # noqa: SIM110  # numba knows no generators
        if trial.old[w] != trial.new[w]:
            return False
    return True


@spliced
def open_row(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, row: int, rank: int) -> int:
    """Write what a row's elements before ``rank`` leave to ``old`` and ``new``; return how many these are."""
    for w in range(len(trial.old)):
        trial.old[w] = data.present[row, w]
    j = 0
    while j < covered.covers[row] and table.rank[covered.cover[row, j]] < rank:
        take(table, covered.cover[row, j], trial.old)
        j += 1
    for w in range(len(trial.old)):
        trial.new[w] = trial.old[w]
    return j


@spliced
def follow(
    data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, row: int, j: int, start: int, noting: int
) -> None:
    """Cover on with the elements from ``pool[start]``, as it was (``cover`` from ``j``) and as it becomes."""
    count = covered.covers[row]
    mass = data.weights[row]
    filled = trial.numbers[TAIL]
    converged = False
    for k in range(start, covered.at[row] + covered.held[row]):
        e = wide(covered.pool[k])
        used = j < count and covered.cover[row, j] == e
        if fits(table, e, trial.new):
            trial.tail[filled] = e
            filled += 1
            take(table, e, trial.new)
            by = 0 if used else mass
        elif used:
            by = -mass
        else:
            continue
        if used:
            j += 1
            take(table, e, trial.old)
        if by:
            if noting:
                note(trial, e, by)
            converged = same(trial)
            if converged:
                break
    if converged:
        while j < count:
            trial.tail[filled] = covered.cover[row, j]
            filled += 1
            j += 1
    trial.numbers[TAIL] = filled
    trial.numbers[SAME] = converged


@spliced
def note_singletons(data: KrimpData, table: KrimpTable, trial: Trial, row: int) -> None:
    """Note which cells of a row are left to singletons, or are no more."""
    mass = data.weights[row]
    for w in range(len(trial.old)):
        left = trial.old[w] ^ trial.new[w]
        while left:
            place = wide(lowest(left))
            gone = (trial.old[w] >> np.uint64(place)) & np.uint64(1)
            note(trial, wide(len(table.length) + data.cells[row, 64 * w + place]), -mass if gone else mass)
            left &= left - np.uint64(1)


@spliced
def cover_again(
    data: KrimpData,
    table: KrimpTable,
    covered: RowCovers,
    trial: Trial,
    row: int,
    x: int,
    where: int,
    adding: int,
    noting: int,
) -> bool:
    """Cover a row as it would be with element ``x`` at rank ``where``, or without it; return whether that differs.

    The new cover is the first ``HEAD`` elements of the old one, then ``tail[:TAIL]``; what is left is in ``new``.
    """
    j = open_row(data, table, covered, trial, row, where)
    trial.numbers[HEAD] = j
    if adding:
        if not fits(table, x, trial.new):
            return False
        take(table, x, trial.new)
        trial.tail[0] = x
        trial.numbers[TAIL] = 1
    else:
        if j == covered.covers[row] or covered.cover[row, j] != x:
            return False
        take(table, x, trial.old)
        trial.numbers[TAIL] = 0
        j += 1
        where += 1
    if noting:
        note(trial, x, data.weights[row] if adding else -data.weights[row])
    follow(data, table, covered, trial, row, j, first_from(table, covered, row, where), noting)
    if noting and not trial.numbers[SAME]:
        note_singletons(data, table, trial, row)
    return True


@spliced
def keep(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, pairing: CodePairs, row: int) -> None:
    """Make the cover that was found last the row's own, and move its cells to the levels where they are covered now."""
    held = codes_of(data, table, covered, row, pairing.was) if len(pairing.pairs) else 0
    head = trial.numbers[HEAD]
    for j in range(head, covered.covers[row]):
        e = covered.cover[row, j]
        for i in range(table.length[e]):
            trial.before[data.place[table.items[e, i]]] = table.length[e]
    for j in range(trial.numbers[TAIL]):
        e = trial.tail[j]
        for i in range(table.length[e]):
            trial.after[data.place[table.items[e, i]]] = table.length[e]
    for j in range(head, covered.covers[row]):
        _level(data, table, covered, trial, row, covered.cover[row, j])
    for j in range(trial.numbers[TAIL]):
        _level(data, table, covered, trial, row, trial.tail[j])
        covered.cover[row, head + j] = trial.tail[j]
    covered.covers[row] = head + trial.numbers[TAIL]
    if not trial.numbers[SAME]:
        for w in range(table.mask.shape[1]):
            covered.single[row, w] = trial.new[w]
    if len(pairing.pairs):
        pair_again(pairing, held, codes_of(data, table, covered, row, pairing.now), data.weights[row])


@spliced
def _level(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, row: int, e: int) -> None:
    """Flip an element's cells on the levels between the lengths that cover them before and after."""
    top = len(covered.free) - 1
    bit = np.uint64(1) << np.uint64(row & 63)
    for i in range(table.length[e]):
        item = table.items[e, i]
        place = data.place[item]
        a, b = trial.before[place], trial.after[place]
        trial.before[place] = 1
        trial.after[place] = 1
        if a != b and data.line[item] >= 0:
            for level in range(min(a, b) - 1, min(max(a, b) - 1, top)):
                covered.free[level, data.line[item], row >> 6] ^= bit


@part
def cover_rows(
    data: KrimpData,
    table: KrimpTable,
    covered: RowCovers,
    trial: Trial,
    pairing: CodePairs,
    count: int,
    x: int,
    where: int,
    adding: int,
    noting: int,
) -> None:
    """Cover the rows in ``hits[:count]`` as they would be with ``x`` at rank ``where``, or without it.

    All that covers a row is called from here alone, so that it is compiled once.
    """
    for k in range(count):
        row = wide(trial.hits[k])
        if cover_again(data, table, covered, trial, row, x, where, adding, noting) and not noting:
            keep(data, table, covered, trial, pairing, row)
