"""Which rows an itemset may cover: intersections of bit vectors, of rare items by their lists of rows."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.bits import Words, intersect_only, lowest
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.mining.krimp.state import KrimpData, KrimpTable, RowCovers, Trial
from ppdm_flow.sdk.compiled import wide

NONE = -1


@inlined
def rarest(data: KrimpData, table: KrimpTable, x: int) -> int:
    """Return the rarest of the items that have no bit vector, or ``NONE`` if all have one."""
    rarest_item = NONE
    for i in range(table.length[x]):
        item = table.items[x, i]
        if data.line[item] < 0 and (
            rarest_item == NONE
            or data.begin[item + 1] - data.begin[item] < data.begin[rarest_item + 1] - data.begin[rarest_item]
        ):
            rarest_item = item
    return int(rarest_item)


@inlined
def rows_with(data: KrimpData, table: KrimpTable, trial: Trial, x: int, item: int) -> int:
    """Write the rows that have all items of ``x`` to ``hits``, looking through those of ``item``; return how many."""
    count = 0
    for k in range(data.begin[item], data.begin[item + 1]):
        row = data.rows[k]
        all_there = True
        for i in range(table.length[x]):
            other = table.items[x, i]
            if data.cells[row, data.place[other]] != other:
                all_there = False
                break
        if all_there:
            trial.hits[count] = row
            count += 1
    return count


@inlined
def intersect_level(data: KrimpData, table: KrimpTable, covered: RowCovers, x: int, level: int, out: Words) -> None:
    """Write the rows in which the items of ``x`` are all free on a level to ``out``."""
    lines = covered.free[level]
    intersect_only(lines[data.line[table.items[x, 0]]], lines[data.line[table.items[x, 1]]], out)
    for i in range(2, table.length[x]):
        intersect_only(out, lines[data.line[table.items[x, i]]], out)


@inlined
def exclude_level(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, x: int, level: int) -> None:
    """Take from ``some`` the rows in which an item of ``x`` is free on a level."""
    lines = covered.free[level]
    for i in range(table.length[x]):
        line = lines[data.line[table.items[x, i]]]
        for w in range(len(line)):
            trial.some[w] &= ~line[w]


@inlined
def list_rows(trial: Trial) -> int:
    """Write the rows in ``some`` to ``hits``; return how many."""
    count = 0
    for w in range(len(trial.some)):
        word = trial.some[w]
        while word:
            trial.hits[count] = 64 * w + wide(lowest(word))
            count += 1
            word &= word - np.uint64(1)
    return count


@inlined
def rows_using(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, x: int) -> int:
    """Write rows to ``hits`` among which are all that use element ``x``; return how many."""
    item = rarest(data, table, x)
    if item != NONE:
        return rows_with(data, table, trial, x, item)
    top = len(covered.free) - 1
    level = min(table.length[x] - 1, top)
    intersect_level(data, table, covered, x, level, trial.some)
    if table.length[x] - 2 < top:
        exclude_level(data, table, covered, trial, x, table.length[x] - 2)
    return list_rows(trial)


@inlined
def rows_containing(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, x: int) -> int:
    """Write the rows that have all items of ``x`` to ``hits``; return how many."""
    item = rarest(data, table, x)
    if item != NONE:
        return rows_with(data, table, trial, x, item)
    intersect_level(data, table, covered, x, len(covered.free) - 1, trial.some)
    return list_rows(trial)
