"""A change to the code table on trial: which usages it moves, and what that does to the total size.

With usages u, their sum t and n codes in use, L(D|CT) + L(CT|D) = (t + n) log t - sum (u + 1) log u + sum of the
codes' sizes under the standard code table (Vreeken, van Leeuwen, Siebes 2011, definitions 3 to 5). So the change
depends on the moved usages alone.
"""

from __future__ import annotations

import math

from ppdm_flow.mining.itemsets.bits import weight_common
from ppdm_flow.mining.itemsets.kernels import inlined, spliced
from ppdm_flow.mining.krimp.occurrences import (
    NONE,
    intersect_level,
    list_rows,
    rarest,
    rows_using,
    rows_with,
)
from ppdm_flow.mining.krimp.rows import KEEP, NOTE, WITH, WITHOUT, cover_rows, note
from ppdm_flow.mining.krimp.state import (
    CODES,
    ELEMENTS,
    TOTAL,
    TOUCHED,
    TRIED_CODES,
    TRIED_TOTAL,
    CodePairs,
    KrimpData,
    KrimpTable,
    RowCovers,
    Trial,
)
from ppdm_flow.sdk.compiled import wide


@inlined
def log_term(data: KrimpData, usage: int) -> float:
    """(u + 1) log2 u, and 0 for a code that is not in use."""
    if usage < len(data.logs):
        return data.logs[usage]  # type: ignore[no-any-return]  # a float of numba's
    return (usage + 1.0) * math.log2(usage)


@inlined
def bits_more(data: KrimpData, table: KrimpTable, trial: Trial) -> float:
    """Return by how many bits the change on trial makes data and code table larger together."""
    bits = 0.0
    total, codes = table.numbers[TOTAL], table.numbers[CODES]
    before = (total + codes) * math.log2(total)
    for i in range(trial.numbers[TOUCHED]):
        code = trial.touched[i]
        by = trial.change[code]
        if by == 0:
            continue
        usage = table.usage[code]
        bits += log_term(data, usage) - log_term(data, usage + by)
        total += by
        if usage == 0:
            codes += 1
            bits += table.bits[code]
        elif usage + by == 0:
            codes -= 1
            bits -= table.bits[code]
    trial.numbers[TRIED_TOTAL], trial.numbers[TRIED_CODES] = total, codes
    return bits + (total + codes) * math.log2(total) - before  # type: ignore[no-any-return]


@inlined
def forget(trial: Trial) -> None:
    """Drop the change on trial."""
    for i in range(trial.numbers[TOUCHED]):
        trial.change[trial.touched[i]] = 0
        trial.marked[trial.touched[i]] = 0
    trial.numbers[TOUCHED] = 0


@inlined
def settle(table: KrimpTable, trial: Trial) -> None:
    """Let the usages be as the change on trial would have them; it stays known until it is forgotten."""
    if trial.numbers[TOUCHED] == 0:
        return
    for i in range(trial.numbers[TOUCHED]):
        table.usage[trial.touched[i]] += trial.change[trial.touched[i]]
    table.numbers[TOTAL], table.numbers[CODES] = trial.numbers[TRIED_TOTAL], trial.numbers[TRIED_CODES]


@inlined
def level_for(table: KrimpTable, covered: RowCovers, x: int, where: int) -> int:
    """Return the level on which all rows that would use ``x`` at rank ``where`` are free in its items."""
    last = where == table.numbers[ELEMENTS] or table.length[table.order[where]] < table.length[x]
    return int(min(table.length[x] - 2 if last else table.length[x] - 1, len(covered.free) - 1))


@inlined
def rows_for(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, x: int, where: int) -> int:
    """Write rows to ``hits`` among which are all that would use ``x`` at rank ``where``; return how many."""
    item = rarest(data, table, x)
    if item != NONE:
        return rows_with(data, table, trial, x, item)
    intersect_level(data, table, covered, x, level_for(table, covered, x, where), trial.some)
    return list_rows(trial)


@spliced
def try_adding(
    data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, pairing: CodePairs, x: int, where: int
) -> float:
    """Put the addition of ``x`` at rank ``where`` on trial; return by how many bits the total would grow.

    Where singletons alone cover its items, ``x`` takes their place and nothing else moves: such rows are only counted.
    """
    item = rarest(data, table, x)
    if item != NONE:
        count = rows_with(data, table, trial, x, item)
    else:
        level = level_for(table, covered, x, where)
        intersect_level(data, table, covered, x, wide(0), trial.alone)
        alone = weight_common(trial.alone, trial.alone, data.planes, data.ends)
        if alone > 0:
            note(trial, x, alone)
            for i in range(table.length[x]):
                note(trial, wide(len(table.length) + table.items[x, i]), -alone)
        count = 0
        if level > 0:
            intersect_level(data, table, covered, x, level, trial.some)
            for w in range(len(trial.some)):
                trial.some[w] &= ~trial.alone[w]
            count = list_rows(trial)
    cover_rows(data, table, covered, trial, pairing, count, x, where, wide(WITH), wide(NOTE))
    if trial.numbers[TOUCHED] == 0:
        return 0.0
    return bits_more(data, table, trial)


@spliced
def try_removing(
    data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, pairing: CodePairs, x: int
) -> float:
    """Put the removal of ``x`` on trial; return by how many bits the total would grow."""
    count = rows_using(data, table, covered, trial, x)
    cover_rows(data, table, covered, trial, pairing, count, x, wide(table.rank[x]), wide(WITHOUT), wide(NOTE))
    if trial.numbers[TOUCHED] == 0:
        return 0.0
    return bits_more(data, table, trial)


@spliced
def cover_with(
    data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, pairing: CodePairs, x: int, where: int
) -> None:
    """Cover the rows with ``x`` at rank ``where``, for good; usages are settled apart."""
    count = rows_for(data, table, covered, trial, x, where)
    cover_rows(data, table, covered, trial, pairing, count, x, where, wide(WITH), wide(KEEP))


@spliced
def cover_without(
    data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, pairing: CodePairs, x: int
) -> None:
    """Cover the rows without ``x``, for good; usages are settled apart."""
    count = rows_using(data, table, covered, trial, x)
    cover_rows(data, table, covered, trial, pairing, count, x, wide(table.rank[x]), wide(WITHOUT), wide(KEEP))
