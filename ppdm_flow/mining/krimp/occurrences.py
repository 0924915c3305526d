"""Which rows an itemset may cover: intersections of bit vectors, of rare items by their lists of rows."""

from __future__ import annotations

import math

import numpy as np

from ppdm_flow.mining.itemsets.database import Words, intersect_only, lowest, weight_common
from ppdm_flow.mining.itemsets.kernels import inlined, part, spliced
from ppdm_flow.mining.krimp.state import (
    CODES,
    ELEMENTS,
    HEAD,
    SAME,
    TAIL,
    TOTAL,
    TOUCHED,
    TRIED_CODES,
    TRIED_TOTAL,
    CodePairs,
    KrimpData,
    KrimpTable,
    RowCovers,
    Trial,
    codes_of,
    pair_again,
)
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


# A change to the code table on trial: which usages it moves, and what that does to the total size.
#
# With usages u, their sum t and n codes in use, L(D|CT) + L(CT|D) = (t + n) log t - sum (u + 1) log u + sum of the
# codes' sizes under the standard code table (Vreeken, van Leeuwen, Siebes 2011, definitions 3 to 5). So the change
# depends on the moved usages alone.


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


# Covering one row again, with an element more or less, and keeping what came out.
#
# An element changes nothing before its own place in cover order, and nothing after the point at which the cells left
# with and without it are the same again.


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
    high = low + covered.contained[row]
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
    for k in range(start, covered.at[row] + covered.contained[row]):
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
    codes_before = codes_of(data, table, covered, row, pairing.was) if len(pairing.pairs) else 0
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
        pair_again(pairing, codes_before, codes_of(data, table, covered, row, pairing.now), data.weights[row])


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


# Standard cover order: length descending, support descending, lexicographic; of the table and of every row.


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
        if covered.contained[row] == covered.room[row]:
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
        if covered.contained[row] == covered.room[row]:
            to = covered.end[0]
            for i in range(covered.contained[row]):
                covered.pool[to + i] = covered.pool[covered.at[row] + i]
            covered.at[row] = to
            covered.room[row] *= 2
            covered.end[0] += covered.room[row]
        place = first_from(table, covered, row, where)
        for i in range(covered.at[row] + covered.contained[row], place, -1):
            covered.pool[i] = covered.pool[i - 1]
        covered.pool[place] = x
        covered.contained[row] += 1


@part
def remove(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, x: int) -> None:
    """Take ``x`` out of the table and of all rows, and give its slot back."""
    for k in range(rows_containing(data, table, covered, trial, x)):
        row = wide(trial.hits[k])
        covered.contained[row] -= 1
        for i in range(first_from(table, covered, row, wide(table.rank[x])), covered.at[row] + covered.contained[row]):
            covered.pool[i] = covered.pool[i + 1]
    table.numbers[ELEMENTS] -= 1
    for rank in range(table.rank[x], table.numbers[ELEMENTS]):
        e = table.order[rank + 1]
        table.order[rank] = e
        table.rank[e] = rank
    table.spare[table.numbers[ELEMENTS]] = x
