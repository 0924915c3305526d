"""A change to the code table on trial: which usages it moves, and what that does to the total size.

With usages u, their sum t and n codes in use, L(D|CT) + L(CT|D) = (t + n) log t - sum (u + 1) log u + sum of the
codes' sizes under the standard code table (Vreeken, van Leeuwen, Siebes 2011, definitions 3 to 5). So the change
depends on the moved usages alone.
"""

from __future__ import annotations

import math

import numpy as np

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
from ppdm_flow.mining.krimp.rows import cover_rows, note
from ppdm_flow.mining.krimp.state import (
    CODES,
    ELEMENTS,
    TOTAL,
    TOUCHED,
    TRIED_CODES,
    TRIED_TOTAL,
    State,
)


@inlined
def log_term(s: State, usage: int) -> float:
    """(u + 1) log2 u, and 0 for a code that is not in use."""
    if usage < len(s.logs):
        return s.logs[usage]  # type: ignore[no-any-return]  # a float of numba's
    return (usage + 1.0) * math.log2(usage)


@inlined
def bits_more(s: State) -> float:
    """Return by how many bits the change on trial makes data and code table larger together."""
    bits = 0.0
    total, codes = s.numbers[TOTAL], s.numbers[CODES]
    before = (total + codes) * math.log2(total)
    for i in range(s.numbers[TOUCHED]):
        code = s.touched[i]
        by = s.change[code]
        if by == 0:
            continue
        usage = s.usage[code]
        bits += log_term(s, usage) - log_term(s, usage + by)
        total += by
        if usage == 0:
            codes += 1
            bits += s.bits[code]
        elif usage + by == 0:
            codes -= 1
            bits -= s.bits[code]
    s.numbers[TRIED_TOTAL], s.numbers[TRIED_CODES] = total, codes
    return bits + (total + codes) * math.log2(total) - before  # type: ignore[no-any-return]


@inlined
def forget(s: State) -> None:
    """Drop the change on trial."""
    for i in range(s.numbers[TOUCHED]):
        s.change[s.touched[i]] = 0
        s.marked[s.touched[i]] = 0
    s.numbers[TOUCHED] = 0


@inlined
def settle(s: State) -> None:
    """Let the usages be as the change on trial would have them; it stays known until it is forgotten."""
    if s.numbers[TOUCHED] == 0:
        return
    for i in range(s.numbers[TOUCHED]):
        s.usage[s.touched[i]] += s.change[s.touched[i]]
    s.numbers[TOTAL], s.numbers[CODES] = s.numbers[TRIED_TOTAL], s.numbers[TRIED_CODES]


@inlined
def level_for(s: State, x: int, where: int) -> int:
    """Return the level on which all rows that would use ``x`` at rank ``where`` are free in its items."""
    last = where == s.numbers[ELEMENTS] or s.length[s.order[where]] < s.length[x]
    return int(min(s.length[x] - 2 if last else s.length[x] - 1, len(s.free) - 1))


@inlined
def rows_for(s: State, x: int, where: int) -> int:
    """Write rows to ``hits`` among which are all that would use ``x`` at rank ``where``; return how many."""
    item = rarest(s, x)
    if item != NONE:
        return rows_with(s, x, item)
    intersect_level(s, x, level_for(s, x, where), s.some)
    return list_rows(s)


@spliced
def try_adding(s: State, x: int, where: int) -> float:
    """Put the addition of ``x`` at rank ``where`` on trial; return by how many bits the total would grow.

    Where singletons alone cover its items, ``x`` takes their place and nothing else moves: such rows are only counted.
    """
    item = rarest(s, x)
    if item != NONE:
        count = rows_with(s, x, item)
    else:
        level = level_for(s, x, where)
        intersect_level(s, x, np.int64(0), s.alone)
        alone = weight_common(s.alone, s.alone, s.planes, s.ends)
        if alone > 0:
            note(s, x, alone)
            for i in range(s.length[x]):
                note(s, np.int64(len(s.length) + s.items[x, i]), -alone)
        count = 0
        if level > 0:
            intersect_level(s, x, level, s.some)
            for w in range(len(s.some)):
                s.some[w] &= ~s.alone[w]
            count = list_rows(s)
    cover_rows(s, count, x, where, np.int64(1), np.int64(1))
    if s.numbers[TOUCHED] == 0:
        return 0.0
    return bits_more(s)


@spliced
def try_removing(s: State, x: int) -> float:
    """Put the removal of ``x`` on trial; return by how many bits the total would grow."""
    cover_rows(s, rows_using(s, x), x, np.int64(s.rank[x]), np.int64(0), np.int64(1))
    if s.numbers[TOUCHED] == 0:
        return 0.0
    return bits_more(s)


@spliced
def cover_with(s: State, x: int, where: int) -> None:
    """Cover the rows with ``x`` at rank ``where``, for good; usages are settled apart."""
    cover_rows(s, rows_for(s, x, where), x, where, np.int64(1), np.int64(0))


@spliced
def cover_without(s: State, x: int) -> None:
    """Cover the rows without ``x``, for good; usages are settled apart."""
    cover_rows(s, rows_using(s, x), x, np.int64(s.rank[x]), np.int64(0), np.int64(0))
