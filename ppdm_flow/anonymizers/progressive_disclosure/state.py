"""The state of one channel while values are disclosed, and its bookkeeping: compiled, since kernels are made of it.

The groups over the channel are the leaves of the paper's VIP tree. A *cell* is the part of a group that a candidate
would take out of it, with its rows and hits: all that is needed to tell a disclosure's effect on every template
(Wang, Fung, Yu, ICDM 2005, section 4.3, with count vectors in place of record lists).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NONE = -1
STAMP, SPARE_CELL, USED_CELLS, SPARE_GROUP, USED_GROUPS, SPARE_CELLS, LEAST = range(7)
"""Places in ``State.counters``: the last mark given; for cells and groups the first of those given back and how many
were ever in use; how many cells were given back; the rows of the smallest group."""

MARK, NEW, NEXT, BEFORE, OWNER, GROUP, MASS = range(7)
"""Columns of ``State.groups`` and ``State.cells``: when it was last divided, and into what; the next one given back, or
the owner's next cell and the one before it; the cell's candidate and group; from ``MASS`` on its rows and hits."""


class State(NamedTuple):
    """One channel with A attributes, n combinations, T templates, C candidates (of all channels).

    ``mass`` (n, 1 + T): the rows of each combination, and its hits; ``rows`` (A, n): the combinations of each attribute
    by leaf, of which candidate c has those from ``begin[c]`` to ``end[c]``; ``child_begin`` (C + 1,) and ``children``:
    candidates below each; ``group`` (n,); ``cell`` (n, A), -1 where nothing is left to disclose. ``first`` (C,) is a
    candidate's first cell. ``after`` (C, T) is the highest confidence in a group that disclosing the candidate would
    leave, ``smallest`` (C,) the rows of the smallest such group: as of when it was last looked at, and they only grow,
    or shrink. ``witness`` (C, 2 + T) is the group, rows and hits of the cell that told most then, group -1 if that cell
    has changed. What is used together lies together: the search is bound by memory.
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
    first: Counts
    after: Floats
    smallest: Counts
    witness: Counts
    confidence: Floats
    counters: Counts
    groups: Counts
    cells: Counts


@compiled
def new_group(s: State) -> int:
    """Return an empty group."""
    g = s.counters[SPARE_GROUP]
    if g != NONE:
        s.counters[SPARE_GROUP] = s.groups[g, NEXT]
    else:
        g = s.counters[USED_GROUPS]
        s.counters[USED_GROUPS] += 1
    s.groups[g, :] = 0
    return int(g)


@compiled
def new_cell(s: State, candidate: int, g: int) -> int:
    """Return an empty cell of a candidate in a group."""
    k = s.counters[SPARE_CELL]
    if k != NONE:
        s.counters[SPARE_CELL] = s.cells[k, NEXT]
        s.counters[SPARE_CELLS] -= 1
    else:
        k = s.counters[USED_CELLS]
        s.counters[USED_CELLS] += 1
    following = s.first[candidate]
    s.cells[k, :] = 0
    s.cells[k, OWNER] = candidate
    s.cells[k, GROUP] = g
    s.cells[k, NEXT] = following
    s.cells[k, BEFORE] = NONE
    if following != NONE:
        s.cells[following, BEFORE] = k
    s.first[candidate] = k
    return int(k)


@compiled
def give_back(s: State, k: int) -> None:
    """Take a cell from its candidate: nothing is left of it."""
    before, following = s.cells[k, BEFORE], s.cells[k, NEXT]
    if before == NONE:
        s.first[s.cells[k, OWNER]] = following
    else:
        s.cells[before, NEXT] = following
    if following != NONE:
        s.cells[following, BEFORE] = before
    s.cells[k, NEXT] = s.counters[SPARE_CELL]
    s.counters[SPARE_CELL] = k
    s.counters[SPARE_CELLS] += 1


@compiled
def give_back_all(s: State, candidate: int) -> None:
    """Take all cells from a candidate."""
    k = s.first[candidate]
    if k == NONE:
        return
    count = 1
    while s.cells[k, NEXT] != NONE:
        k = s.cells[k, NEXT]
        count += 1
    s.cells[k, NEXT] = s.counters[SPARE_CELL]
    s.counters[SPARE_CELL] = s.first[candidate]
    s.counters[SPARE_CELLS] += count
    s.first[candidate] = NONE


@compiled
def judge(s: State, g: int) -> None:
    """Take a group into the figures of the channel."""
    total = s.groups[g, MASS]
    if total == 0:
        s.groups[g, NEXT] = s.counters[SPARE_GROUP]
        s.counters[SPARE_GROUP] = g
        return
    s.counters[LEAST] = min(s.counters[LEAST], total)
    for t in range(len(s.confidence)):
        s.confidence[t] = max(s.confidence[t], s.groups[g, MASS + 1 + t] / total)


@compiled
def move(mass: Counts, j: int, table: Counts, origin: int, to: int) -> None:
    """Move a combination's rows and hits from one group, or cell, to another; ``NONE`` takes them away."""
    for i in range(mass.shape[1]):
        table[origin, MASS + i] -= mass[j, i]
    if to != NONE:
        for i in range(mass.shape[1]):
            table[to, MASS + i] += mass[j, i]
