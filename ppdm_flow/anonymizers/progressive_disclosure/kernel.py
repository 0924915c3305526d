"""The compiled part of the search: the statistics of one channel, kept up to date disclosure by disclosure.

A disclosure touches only the rows that it discloses: each of them moves to its new group, and so do its shares of the
other candidates' cells. What a candidate would do is looked up when it is asked for (:mod:`prospect`).
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.anonymizers.progressive_disclosure.state import (
    MARK,
    MASS,
    NEW,
    NONE,
    OWNER,
    STAMP,
    USED_GROUPS,
    Places,
    State,
    give_back,
    give_back_all,
    judge,
    move,
    new_cell,
    new_group,
)
from ppdm_flow.sdk.compiled import compiled, wide


@compiled
def begin(s: State, base: Places, topmost: Places) -> None:
    """Set up groups and cells of the most suppressed table; ``topmost`` are the candidates directly below it."""
    width = s.mass.shape[1]
    for j in range(len(base)):
        g = base[j]
        s.group[j] = g
        for i in range(width):
            s.groups[g, MASS + i] += s.mass[j, i]
    for place in range(len(topmost)):
        y = topmost[place]
        a = s.local[y]
        if a == NONE:
            continue
        s.counters[STAMP] += 1
        for r in range(s.begin[y], s.end[y]):
            j = s.rows[a, r]
            g = s.group[j]
            if s.groups[g, MARK] != s.counters[STAMP]:
                s.groups[g, MARK] = s.counters[STAMP]
                s.groups[g, NEW] = new_cell(s, wide(y), wide(g))
            k = s.groups[g, NEW]
            s.cell[j, a] = k
            for i in range(width):
                s.cells[k, MASS + i] += s.mass[j, i]
    for g in range(s.counters[USED_GROUPS]):
        judge(s, g)


@compiled
def drop(s: State, candidate: int) -> None:
    """Forget a candidate that may never be disclosed any more."""
    a = s.local[candidate]
    if a != NONE:
        for r in range(s.begin[candidate], s.end[candidate]):
            s.cell[s.rows[a, r], a] = NONE
        give_back_all(s, candidate)


@compiled
def _divide_group(s: State, g: int, stamp: int) -> None:
    made = new_group(s)
    s.groups[g, MARK] = stamp
    s.groups[g, NEW] = made


@compiled
def _divide_cell(s: State, k: int, candidate: int, g: int, stamp: int) -> None:
    s.witness[s.cells[k, OWNER], 0] = NONE
    made = new_cell(s, candidate, g)
    s.cells[k, MARK] = stamp
    s.cells[k, NEW] = made


@compiled
def _mark_whole(s: State, candidate: int, all_rows: int) -> None:
    """Mark the groups that have no rows but the candidate's."""
    a, groups, cells = s.local[candidate], s.groups, s.cells
    rows, group, cell = s.rows, s.group, s.cell
    for r in range(s.begin[candidate], s.end[candidate]):
        j = rows[a, r]
        if groups[group[j], MASS] == cells[cell[j, a], MASS]:
            groups[group[j], MARK] = all_rows


@compiled
def _split(s: State, candidate: int, child: int, stamp: int, touched: Places, count: int) -> int:
    """Take the rows of the candidate (of one child of it) out of their groups; return how many are divided by now.

    Arrays go by names of their own: the loop is where the time goes.
    """
    part = candidate if child == NONE else child
    a, mass, rows, group, cell = s.local[candidate], s.mass, s.rows, s.group, s.cell
    groups, cells = s.groups, s.cells
    own = s.counters[STAMP]
    for r in range(s.begin[part], s.end[part]):
        j = rows[a, r]
        g = group[j]
        mark = groups[g, MARK]
        if mark != stamp - 1:  # a whole group stays as it is
            if mark != stamp:
                _divide_group(s, g, stamp)
                touched[count] = g
                count += 1
            fresh = groups[g, NEW]
            group[j] = fresh
            move(mass, j, groups, g, fresh)
            for b in range(cell.shape[1]):
                k = cell[j, b]
                if b != a and k != NONE:
                    if cells[k, MARK] != stamp:
                        _divide_cell(s, wide(k), wide(cells[k, OWNER]), wide(fresh), wide(stamp))
                    to = cells[k, NEW]
                    cell[j, b] = to
                    move(mass, j, cells, k, to)
                    if cells[k, MASS] == 0:
                        give_back(s, k)
        k = cell[j, a]
        to = np.int64(NONE)
        if child != NONE:
            if cells[k, MARK] != own:
                _divide_cell(s, wide(k), wide(child), wide(group[j]), wide(own))
            to = cells[k, NEW]
        cell[j, a] = to
        move(mass, j, cells, k, to)
        if cells[k, MASS] == 0:
            give_back(s, k)
    return count


@compiled
def disclose(s: State, candidate: int) -> None:
    """Split the groups: rows of ``candidate`` leave them, and its children become candidates.

    A group that has no other rows stays as it is.
    """
    if s.local[candidate] == NONE:
        return
    touched = np.empty(min(s.end[candidate] - s.begin[candidate], s.counters[USED_GROUPS]), dtype=np.int32)
    count = 0
    s.counters[STAMP] += 2
    stamp = s.counters[STAMP]
    _mark_whole(s, candidate, stamp - 1)
    first, last = s.child_begin[candidate], s.child_begin[candidate + 1]
    if first == last:
        count = _split(s, candidate, wide(NONE), stamp, touched, wide(count))
    for place in range(first, last):  # the leaves below a child stand together
        s.counters[STAMP] += 1
        count = _split(s, candidate, wide(s.children[place]), stamp, touched, wide(count))
    for i in range(count):
        judge(s, wide(touched[i]))
        judge(s, wide(s.groups[touched[i], NEW]))
