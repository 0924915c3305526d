"""Standard cover order: length descending, support descending, lexicographic; of the table and of every row."""

from __future__ import annotations

from ppdm_flow.mining.itemsets.kernels import inlined, part
from ppdm_flow.mining.krimp.occurrences import rows_containing
from ppdm_flow.mining.krimp.rows import first_from
from ppdm_flow.mining.krimp.state import ELEMENTS, KrimpData, KrimpTable, RowCovers, Trial
from ppdm_flow.sdk.compiled import wide


@inlined
def precedes(table: KrimpTable, a: int, b: int) -> bool:
    """Whether slot ``a`` comes before slot ``b`` in standard cover order."""
    if table.length[a] != table.length[b]:
        return bool(table.length[a] > table.length[b])
    if table.support[a] != table.support[b]:
        return bool(table.support[a] > table.support[b])
    for i in range(table.length[a]):
        if table.items[a, i] != table.items[b, i]:
            return bool(table.items[a, i] < table.items[b, i])
    return False


@inlined
def rank_for(table: KrimpTable, x: int) -> int:
    """Return the rank at which a new element belongs."""
    low, high = 0, table.numbers[ELEMENTS]
    while low < high:
        middle = (low + high) >> 1
        if precedes(table, table.order[middle], x):
            low = middle + 1
        else:
            high = middle
    return int(low)


@part
def room_for(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, x: int) -> bool:
    """Whether the pool can take ``x`` in every row that contains it; writes these rows to ``hits``."""
    count = rows_containing(data, table, covered, trial, x)
    need = covered.end[0]
    for k in range(count):
        row = wide(trial.hits[k])
        if covered.held[row] == covered.room[row]:
            need += 2 * covered.room[row]
    return bool(need <= len(covered.pool))


@part
def insert(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, x: int, where: int) -> None:
    """Put ``x`` at rank ``where``, in the table and in the rows that contain it: the pool must have room for it."""
    for rank in range(table.numbers[ELEMENTS], where, -1):
        e = table.order[rank - 1]
        table.order[rank] = e
        table.rank[e] = rank
    table.order[where] = x
    table.rank[x] = where
    table.numbers[ELEMENTS] += 1
    for k in range(rows_containing(data, table, covered, trial, x)):
        row = wide(trial.hits[k])
        if covered.held[row] == covered.room[row]:
            to = covered.end[0]
            for i in range(covered.held[row]):
                covered.pool[to + i] = covered.pool[covered.at[row] + i]
            covered.at[row] = to
            covered.room[row] *= 2
            covered.end[0] += covered.room[row]
        place = first_from(table, covered, row, where)
        for i in range(covered.at[row] + covered.held[row], place, -1):
            covered.pool[i] = covered.pool[i - 1]
        covered.pool[place] = x
        covered.held[row] += 1


@part
def remove(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, x: int) -> None:
    """Take ``x`` out of the table and of all rows, and give its slot back."""
    for k in range(rows_containing(data, table, covered, trial, x)):
        row = wide(trial.hits[k])
        covered.held[row] -= 1
        for i in range(first_from(table, covered, row, wide(table.rank[x])), covered.at[row] + covered.held[row]):
            covered.pool[i] = covered.pool[i + 1]
    table.numbers[ELEMENTS] -= 1
    for rank in range(table.rank[x], table.numbers[ELEMENTS]):
        e = table.order[rank + 1]
        table.order[rank] = e
        table.rank[e] = rank
    table.spare[table.numbers[ELEMENTS]] = x
