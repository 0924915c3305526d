"""The compiled part of the search: the statistics of one channel, kept up to date disclosure by disclosure.

The groups over the channel are the leaves of the paper's VIP tree. A *cell* is the part of a group that a candidate
would take out of it, with its rows and hits: all that is needed to tell a disclosure's effect on every template
(Wang, Fung, Yu, ICDM 2005, section 4.3, with count vectors in place of record lists). A disclosure touches only the
rows that it discloses: each of them moves to its new group, and so do its shares of the other candidates' cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled, tolerant

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NONE = -1
STAMP, SPARE_CELL, USED_CELLS, SPARE_GROUP, USED_GROUPS, SPARE_CELLS, LEAST = range(7)
"""Places in ``State.counters``: the last mark given; for cells and groups the first of those given back and how many
were ever in use; how many cells were given back; the rows of the smallest group."""

MARK, NEW, FIRST, NEXT, CANDIDATE, MASS = 0, 1, 2, 2, 3, 4
"""Columns of ``State.groups`` and ``State.cells``: when it was last divided, and into what; the group's first cell, and
the cell's next one (or the next one given back); the cell's candidate; from ``MASS`` on its rows and hits."""


class State(NamedTuple):
    """One channel with A attributes, n combinations, T templates, C candidates (of all channels).

    ``mass`` (n, 1 + T): the rows of each combination, and its hits; ``rows`` (A, n): the combinations of each attribute
    by leaf, of which candidate c has those from ``begin[c]`` to ``end[c]``; ``child_begin`` (C + 1,) and ``children``:
    candidates below each; ``group`` (n,); ``cell`` (n, A), -1 where nothing is left to disclose. ``after`` (C, T) is
    the highest confidence in a group that disclosing the candidate would leave, ``smallest`` (C,) the rows of the
    smallest such group. What is used together lies together: the search is bound by memory.
    """

    mass: Counts
    rows: Places
    begin: Counts
    end: Counts
    local: Places
    child_begin: Counts
    children: Places
    group: Places
    cell: Places
    dead: Bools
    after: Floats
    smallest: Counts
    confidence: Floats
    counters: Counts
    groups: Counts
    cells: Counts


@compiled
def _new_group(s: State) -> int:
    g = s.counters[SPARE_GROUP]
    if g != NONE:
        s.counters[SPARE_GROUP] = s.groups[g, FIRST]
    else:
        g = s.counters[USED_GROUPS]
        s.counters[USED_GROUPS] += 1
    s.groups[g, :] = 0
    s.groups[g, FIRST] = NONE
    return int(g)


@compiled
def _new_cell(s: State, candidate: int, g: int) -> int:
    k = s.counters[SPARE_CELL]
    if k != NONE:
        s.counters[SPARE_CELL] = s.cells[k, NEXT]
        s.counters[SPARE_CELLS] -= 1
    else:
        k = s.counters[USED_CELLS]
        s.counters[USED_CELLS] += 1
    s.cells[k, :] = 0
    s.cells[k, CANDIDATE] = candidate
    s.cells[k, NEXT] = s.groups[g, FIRST]
    s.groups[g, FIRST] = k
    return int(k)


@compiled
def _judge(s: State, g: int) -> None:
    """Look at a group and at every cell of it; give back what nothing is left of."""
    total = s.groups[g, MASS]
    templates = len(s.confidence)
    if total > 0:
        s.counters[LEAST] = min(s.counters[LEAST], total)
        for t in range(templates):
            s.confidence[t] = max(s.confidence[t], s.groups[g, MASS + 1 + t] / total)
    before = np.int64(NONE)
    k = s.groups[g, FIRST]
    while k != NONE:
        following = s.cells[k, NEXT]
        y = s.cells[k, CANDIDATE]
        w = s.cells[k, MASS]
        if w == 0 or s.dead[y]:
            if before == NONE:
                s.groups[g, FIRST] = following
            else:
                s.cells[before, NEXT] = following
            s.cells[k, NEXT] = s.counters[SPARE_CELL]
            s.counters[SPARE_CELL] = k
            s.counters[SPARE_CELLS] += 1
        else:
            before = k
            rest = total - w
            s.smallest[y] = min(s.smallest[y], w, rest if rest > 0 else w)
            for t in range(templates):
                h = s.cells[k, MASS + 1 + t]
                worst = h / w
                if rest > 0:
                    worst = max(worst, (s.groups[g, MASS + 1 + t] - h) / rest)
                if worst > s.after[y, t]:
                    s.after[y, t] = worst
        k = following
    if total == 0:
        s.groups[g, FIRST] = s.counters[SPARE_GROUP]
        s.counters[SPARE_GROUP] = g


@compiled
def _move(mass: Counts, j: int, table: Counts, origin: int, to: int) -> None:
    """Move a combination's rows and hits from one group, or cell, to another; ``NONE`` takes them away."""
    for i in range(mass.shape[1]):
        table[origin, MASS + i] -= mass[j, i]
    if to != NONE:
        for i in range(mass.shape[1]):
            table[to, MASS + i] += mass[j, i]


@tolerant
@compiled
def begin(s: State, base: Places, topmost: Places) -> None:
    """Set up groups and cells of the most suppressed table; ``topmost`` are the candidates directly below it."""
    wide = s.mass.shape[1]
    for j in range(len(base)):
        g = base[j]
        s.group[j] = g
        for i in range(wide):
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
                s.groups[g, NEW] = _new_cell(s, y, g)
            k = s.groups[g, NEW]
            s.cell[j, a] = k
            for i in range(wide):
                s.cells[k, MASS + i] += s.mass[j, i]
    for g in range(s.counters[USED_GROUPS]):
        _judge(s, g)


@tolerant
@compiled
def drop(s: State, candidate: int) -> None:
    """Forget a candidate that may never be disclosed any more."""
    s.dead[candidate] = True
    a = s.local[candidate]
    if a != NONE:
        for r in range(s.begin[candidate], s.end[candidate]):
            s.cell[s.rows[a, r], a] = NONE


@compiled
def _divide_group(s: State, g: int, stamp: int) -> None:
    made = _new_group(s)
    s.groups[g, MARK] = stamp
    s.groups[g, NEW] = made


@compiled
def _divide_cell(s: State, k: int, candidate: int, g: int, stamp: int) -> None:
    made = _new_cell(s, candidate, g)
    s.cells[k, MARK] = stamp
    s.cells[k, NEW] = made


@compiled
def _mark_whole(s: State, candidate: int, whole: int) -> None:
    """Mark the groups that have no rows but the candidate's."""
    a, groups, cells = s.local[candidate], s.groups, s.cells
    rows, group, cell = s.rows, s.group, s.cell
    for r in range(s.begin[candidate], s.end[candidate]):
        j = rows[a, r]
        if groups[group[j], MASS] == cells[cell[j, a], MASS]:
            groups[group[j], MARK] = whole


@compiled
def _split(s: State, candidate: int, child: int, stamp: int, touched: Places, count: int) -> int:
    """Take the rows of the candidate (of one child of it) out of their groups; return how many are touched by now.

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
        if mark == stamp - 1:  # a whole group stays; its new cells have to be judged
            groups[g, MARK], groups[g, NEW] = stamp - 2, g
            touched[count] = g
            count += 1
        elif mark != stamp - 2:
            if mark != stamp:
                _divide_group(s, g, stamp)
                touched[count] = g
                count += 1
            fresh = groups[g, NEW]
            group[j] = fresh
            _move(mass, j, groups, g, fresh)
            for b in range(cell.shape[1]):
                k = cell[j, b]
                if b != a and k != NONE:
                    if cells[k, MARK] != stamp:
                        _divide_cell(s, k, cells[k, CANDIDATE], fresh, stamp)
                    to = cells[k, NEW]
                    cell[j, b] = to
                    _move(mass, j, cells, k, to)
        k = cell[j, a]
        to = np.int64(NONE)
        if child != NONE:
            if cells[k, MARK] != own:
                _divide_cell(s, k, child, group[j], own)
            to = cells[k, NEW]
        cell[j, a] = to
        _move(mass, j, cells, k, to)
    return count


@tolerant
@compiled
def disclose(s: State, candidate: int) -> None:
    """Split the groups: rows of ``candidate`` leave them, and its children become candidates.

    A group that has no other rows stays as it is.
    """
    if s.local[candidate] == NONE:
        return
    s.dead[candidate] = True
    touched = np.empty(min(s.end[candidate] - s.begin[candidate], s.counters[USED_GROUPS]), dtype=np.int32)
    count = 0
    s.counters[STAMP] += 3
    stamp = s.counters[STAMP]
    _mark_whole(s, candidate, stamp - 1)
    first, last = s.child_begin[candidate], s.child_begin[candidate + 1]
    if first == last:
        count = _split(s, candidate, NONE, stamp, touched, count)
    for place in range(first, last):  # the leaves below a child stand together
        s.counters[STAMP] += 1
        count = _split(s, candidate, s.children[place], stamp, touched, count)
    for i in range(count):
        fresh = s.groups[touched[i], NEW]
        _judge(s, touched[i])
        _judge(s, fresh)


@tolerant
@compiled
def privacy(s: State, bounds: Floats, least: int, candidates: Places, rise: Floats, valid: Bools) -> int:
    """Add each candidate's rise of confidence to ``rise`` (C,); clear ``valid`` (C,) where a bound would break.

    Return how many were cleared.
    """
    local, after, confidence, smallest = s.local, s.after, s.confidence, s.smallest
    broken = 0
    for i in range(len(candidates)):
        y = candidates[i]
        if local[y] == NONE:
            continue
        fine = smallest[y] >= least
        for t in range(len(bounds)):
            reached = max(after[y, t], confidence[t])
            rise[y] += reached - confidence[t]
            fine = fine and reached <= bounds[t]
        if not fine:
            valid[y] = False
            broken += 1
    return broken
