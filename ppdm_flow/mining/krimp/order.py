"""Standard cover order: length descending, support descending, lexicographic; of the table and of every row."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.kernels import inlined, part
from ppdm_flow.mining.krimp.occurrences import rows_containing
from ppdm_flow.mining.krimp.rows import first_from
from ppdm_flow.mining.krimp.state import ELEMENTS, POOL, State


@inlined
def precedes(s: State, a: int, b: int) -> bool:
    """Whether slot ``a`` comes before slot ``b`` in standard cover order."""
    if s.length[a] != s.length[b]:
        return bool(s.length[a] > s.length[b])
    if s.support[a] != s.support[b]:
        return bool(s.support[a] > s.support[b])
    for i in range(s.length[a]):
        if s.items[a, i] != s.items[b, i]:
            return bool(s.items[a, i] < s.items[b, i])
    return False


@inlined
def rank_for(s: State, x: int) -> int:
    """Return the rank at which a new element belongs."""
    low, high = 0, s.numbers[ELEMENTS]
    while low < high:
        middle = (low + high) >> 1
        if precedes(s, s.order[middle], x):
            low = middle + 1
        else:
            high = middle
    return int(low)


@part
def room_for(s: State, x: int) -> bool:
    """Whether the pool can take ``x`` in every row that contains it; writes these rows to ``hits``."""
    count = rows_containing(s, x)
    need = s.numbers[POOL]
    for k in range(count):
        row = np.int64(s.hits[k])
        if s.held[row] == s.room[row]:
            need += 2 * s.room[row]
    return bool(need <= len(s.pool))


@part
def insert(s: State, x: int, where: int) -> None:
    """Put ``x`` at rank ``where``, in the table and in the rows that contain it: the pool must have room for it."""
    for rank in range(s.numbers[ELEMENTS], where, -1):
        e = s.order[rank - 1]
        s.order[rank] = e
        s.rank[e] = rank
    s.order[where] = x
    s.rank[x] = where
    s.numbers[ELEMENTS] += 1
    for k in range(rows_containing(s, x)):
        row = np.int64(s.hits[k])
        if s.held[row] == s.room[row]:
            to = s.numbers[POOL]
            for i in range(s.held[row]):
                s.pool[to + i] = s.pool[s.at[row] + i]
            s.at[row] = to
            s.room[row] *= 2
            s.numbers[POOL] += s.room[row]
        place = first_from(s, row, where)
        for i in range(s.at[row] + s.held[row], place, -1):
            s.pool[i] = s.pool[i - 1]
        s.pool[place] = x
        s.held[row] += 1


@part
def remove(s: State, x: int) -> None:
    """Take ``x`` out of the table and of all rows, and give its slot back."""
    for k in range(rows_containing(s, x)):
        row = np.int64(s.hits[k])
        s.held[row] -= 1
        for i in range(first_from(s, row, np.int64(s.rank[x])), s.at[row] + s.held[row]):
            s.pool[i] = s.pool[i + 1]
    s.numbers[ELEMENTS] -= 1
    for rank in range(s.rank[x], s.numbers[ELEMENTS]):
        e = s.order[rank + 1]
        s.order[rank] = e
        s.rank[e] = rank
    s.spare[s.numbers[ELEMENTS]] = x
