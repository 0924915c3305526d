"""The state of the search for a code table: elements, the cover of every row, and the elements that could cover it.

*Elements* are the itemsets in the code table that have two items or more, in slots; singletons are known by item. A
*mask* has a bit for each place of a row, so that covering is bit arithmetic for an alphabet of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.database import ItemDatabase, Words, lowest, weight_planes, words_for
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.sdk.compiled import wide

Counts = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

TOTAL, CODES, ELEMENTS, ACCEPTED, PRUNED = range(5)
"""Places in ``Table.numbers``: the sum of usages and how many codes are in use; elements in the table; additions and
removals so far."""
TRIED_TOTAL, TRIED_CODES, TOUCHED, HEAD, TAIL, SAME = range(6)
"""Places in ``Trial.numbers``: the sum of usages and the codes in use as the change would leave them; how many usages
it touches; of the row covered last, how many elements of its cover stay, how many follow, whether its singletons do."""

MOST_BITS = 1 << 32
"""``free`` takes at most so many bits (512 MB)."""


class KrimpData(NamedTuple):
    """The database: R rows with P places in W mask words, I items. A search does not change it.

    ``cells`` (R, P), ``weights`` (R,), ``planes`` and ``ends`` (weights as bits), ``place`` (I,), ``present`` (R, W),
    ``begin`` (I + 1,) and ``rows``: the rows of each item; ``standard`` (I,): bits of each item under the standard code
    table; ``logs``: (u + 1) log2 u for small u. Item i has its bit vector at ``line[i]``, rare ones have none (-1).
    """

    cells: Items
    weights: Counts
    planes: Words
    ends: Counts
    place: Items
    present: Words
    begin: Counts
    rows: Items
    standard: Floats
    logs: Floats
    line: Items


class KrimpTable(NamedTuple):
    """The code table: E slots for elements of at most ``longest`` items.

    ``items`` (E, longest), ``length``, ``support``, ``mask`` (E, W), ``rank`` (E,): place in cover order; ``order``:
    slots by rank; ``spare``: slots that are free, from ``spare[ELEMENTS]`` on. ``usage`` (E + I,): of elements by slot,
    of item i at E + i; ``bits`` (E + I,) their sizes under the standard code table.
    """

    items: Items
    length: Items
    support: Counts
    mask: Words
    rank: Items
    order: Items
    spare: Items
    usage: Counts
    bits: Floats
    numbers: Counts


class RowCovers(NamedTuple):
    """The covers of the rows.

    ``cover`` (R, P // 2) the elements of the cover in order, ``covers`` (R,) how many, ``single`` (R, W) what is left
    to singletons. The elements that a row contains, in cover order, are ``pool[at[r]:at[r] + held[r]]``, with room for
    ``room[r]``; the pool is filled up to ``end[0]``.

    ``free`` (levels, lines, words): the rows in which item i, of line ``line[i]``, is not covered by an element of
    length l + 2 or more; the last level has all rows of the item.
    """

    cover: Items
    covers: Items
    single: Words
    pool: Items
    at: Counts
    contained: Items
    room: Items
    end: Counts
    free: Words


class Trial(NamedTuple):
    """A change on trial: ``touched`` codes and the ``change`` of their usages (E + I,); the rest is room for steps."""

    change: Counts
    marked: Items
    touched: Items
    queue: Items
    fresh: Items
    hits: Items
    some: Words
    alone: Words
    old: Words
    new: Words
    tail: Items
    before: Items
    after: Items
    numbers: Counts


class CodePairs(NamedTuple):
    """For SLIM, N = E + I, else 0: ``pairs`` (N, N): the weight of the rows that use both codes, once ``counted[0]``.

    ``tried`` (N, N): pairs that were of no use as they are; ``dirty`` (N,): codes whose rows have changed. The rest is
    room for single steps.
    """

    pairs: Items
    tried: Bytes
    stamp: Bytes
    dirty: Bytes
    was: Items
    now: Items
    counted: Bytes


class KrimpState(NamedTuple):
    """All of a search. Kernels are given the parts that they need: the fewer arrays, the faster they are compiled."""

    data: KrimpData
    table: KrimpTable
    covered: RowCovers
    trial: Trial
    pairing: CodePairs


def begin_state(database: ItemDatabase, longest: int, slots: int = 256, *, pairing: bool = False) -> KrimpState:
    """Return the standard code table: every cell is covered by its singleton."""
    rows, places = database.cells.shape
    size = slots + database.items
    data = _data(database)
    return KrimpState(
        data,
        _table(database, data.standard, longest, slots),
        _covered(database, data, longest),
        _trial(rows, places, slots, size),
        _pairing(size if pairing else 0, places),
    )


def _data(database: ItemDatabase) -> KrimpData:
    """Return what a search does not change."""
    cells = database.cells
    rows, places = cells.shape
    row, place = np.nonzero(cells >= 0)
    item = cells[row, place]
    present = np.zeros((rows, max(1, words_for(places))), dtype=np.uint64)
    np.bitwise_or.at(present, (row, place >> 6), np.uint64(1) << (place & 63).astype(np.uint64))
    occurring = np.bincount(item, minlength=database.items)
    planes, ends = weight_planes(database.weights)
    return KrimpData(
        cells=cells,
        weights=database.weights,
        planes=planes,
        ends=ends,
        place=database.place,
        present=present,
        begin=np.concatenate([[0], np.cumsum(occurring)]).astype(np.int64),
        rows=row[np.argsort(item, kind="stable")].astype(np.int32),
        standard=standard_bits(database),
        logs=logarithms(database.rows),
        line=lines_of(occurring, words_for(rows)),
    )


def _table(database: ItemDatabase, standard: Floats, longest: int, slots: int) -> KrimpTable:
    numbers = np.zeros(5, dtype=np.int64)
    numbers[TOTAL], numbers[CODES] = database.supports.sum(), np.count_nonzero(database.supports)
    return KrimpTable(
        items=np.zeros((slots, longest), dtype=np.int32),
        length=np.zeros(slots, dtype=np.int32),
        support=np.zeros(slots, dtype=np.int64),
        mask=np.zeros((slots, max(1, words_for(database.cells.shape[1]))), dtype=np.uint64),
        rank=np.zeros(slots, dtype=np.int32),
        order=np.zeros(slots, dtype=np.int32),
        spare=np.arange(slots, dtype=np.int32),
        usage=np.concatenate([np.zeros(slots, dtype=np.int64), database.supports]),
        bits=np.concatenate([np.zeros(slots), standard]),
        numbers=numbers,
    )


def _covered(database: ItemDatabase, data: KrimpData, longest: int) -> RowCovers:
    rows, places = database.cells.shape
    lines = int(np.count_nonzero(data.line >= 0))
    levels = max(1, min(longest, MOST_BITS // max(1, 64 * words_for(rows) * lines)))
    return RowCovers(
        cover=np.zeros((rows, max(1, places // 2)), dtype=np.int32),
        covers=np.zeros(rows, dtype=np.int32),
        single=data.present.copy(),
        pool=np.zeros(16 * rows, dtype=np.int32),
        at=np.arange(0, 4 * rows, 4, dtype=np.int64),
        contained=np.zeros(rows, dtype=np.int32),
        room=np.full(rows, 4, dtype=np.int32),
        end=np.array([4 * rows], dtype=np.int64),
        free=np.repeat(database.vertical(data.line)[None], levels, axis=0),
    )


def _trial(rows: int, places: int, slots: int, size: int) -> Trial:
    width = max(1, words_for(places))
    return Trial(
        change=np.zeros(size, dtype=np.int64),
        marked=np.zeros(size, dtype=np.int32),
        touched=np.zeros(size, dtype=np.int32),
        queue=np.zeros(slots, dtype=np.int32),
        fresh=np.zeros(slots, dtype=np.int32),
        hits=np.zeros(rows, dtype=np.int32),
        some=np.zeros(words_for(rows), dtype=np.uint64),
        alone=np.zeros(words_for(rows), dtype=np.uint64),
        old=np.zeros(width, dtype=np.uint64),
        new=np.zeros(width, dtype=np.uint64),
        tail=np.zeros(places + 1, dtype=np.int32),
        before=np.ones(places + 1, dtype=np.int32),
        after=np.ones(places + 1, dtype=np.int32),
        numbers=np.zeros(6, dtype=np.int64),
    )


def _pairing(size: int, places: int) -> CodePairs:
    return CodePairs(
        pairs=np.zeros((size, size), dtype=np.int32),
        tried=np.zeros((size, size), dtype=np.uint8),
        stamp=np.zeros(size, dtype=np.uint8),
        dirty=np.zeros(size, dtype=np.uint8),
        was=np.zeros(places + 1, dtype=np.int32),
        now=np.zeros(places + 1, dtype=np.int32),
        counted=np.zeros(1, dtype=np.uint8),
    )


def lines_of(occurring: Counts, words: int) -> Items:
    """Give lines of bits to the items that fill them best; return that of each item, -1 for none."""
    least = max(1, words // 4)
    while 2 * 64 * words * np.count_nonzero(occurring >= least) > MOST_BITS:
        least *= 2
    dense = np.flatnonzero(occurring >= least)
    line = np.full(len(occurring), -1, dtype=np.int32)
    line[dense] = np.arange(len(dense), dtype=np.int32)
    return line


def with_slots(s: KrimpState) -> KrimpState:
    """Return the state with twice the slots."""
    slots, more = len(s.table.length), 2 * len(s.table.length)

    def taller(old: Any) -> Any:
        return np.concatenate([old, np.zeros((more - slots, *old.shape[1:]), dtype=old.dtype)])

    def inner(old: Any) -> Any:
        return np.concatenate([taller(old[:slots]), old[slots:]])

    def grown(part: Any, resized: Callable[[Any], Any], names: str) -> Any:
        return part._replace(**{name: resized(getattr(part, name)) for name in names.split()})

    table = grown(s.table, taller, "items length support mask rank order")
    spare = np.concatenate([s.table.spare, np.arange(slots, more, dtype=np.int32)])
    pairing = s.pairing
    if len(pairing.pairs):
        pairing = grown(pairing, inner, "stamp dirty")
        pairing = grown(pairing, lambda old: inner(inner(old).T).T.copy(), "pairs tried")
    return s._replace(
        table=grown(table, inner, "usage bits")._replace(spare=spare),
        trial=grown(grown(s.trial, taller, "queue fresh"), inner, "change marked touched"),
        pairing=pairing,
    )


def with_pool(s: KrimpState) -> KrimpState:
    """Return the state with twice the pool."""
    pool = s.covered.pool
    return s._replace(covered=s.covered._replace(pool=np.concatenate([pool, np.zeros(len(pool), dtype=np.int32)])))


MOST_LOGS = 1 << 22


def standard_bits(database: ItemDatabase) -> Floats:
    """Return the code length of each item under the standard code table: -log2(support / sum); 0 if it never occurs."""
    supports = database.supports.astype(np.float64)
    bits = np.zeros(len(supports))
    here = supports > 0
    bits[here] = np.log2(max(supports.sum(), 1)) - np.log2(supports[here])
    return bits


def logarithms(rows: int) -> Floats:
    """Return (u + 1) log2 u of the usages u from 0 on that rows can lead to, of the small ones if these are many."""
    counts = np.arange(min(rows, MOST_LOGS) + 1, dtype=np.float64)
    logs: Floats = (counts + 1) * np.log2(np.maximum(counts, 1))
    return logs


# Which codes are used together, row by row: what SLIM finds its candidates in.


@inlined
def codes_of(data: KrimpData, table: KrimpTable, covered: RowCovers, row: int, out: Items) -> int:
    """Write the codes of a row's cover to ``out``, elements by slot, singletons after all slots; return how many."""
    count = 0
    for j in range(covered.covers[row]):
        out[count] = covered.cover[row, j]
        count += 1
    for w in range(table.mask.shape[1]):
        left = covered.single[row, w]
        while left:
            place = 64 * w + wide(lowest(left))
            out[count] = len(table.length) + data.cells[row, place]
            count += 1
            left &= left - np.uint64(1)
    return count


@inlined
def pair_up(pairing: CodePairs, code: int, codes: Items, count: int, mark: int, by: int) -> None:
    """Add to the pairs of one code with all of ``codes``; of two that carry the mark, the one that comes first does."""
    pairing.dirty[code] = 1
    for k in range(count):
        other = codes[k]
        if other != code and (pairing.stamp[other] != mark or code < other):
            pairing.pairs[code, other] += by
            pairing.pairs[other, code] += by


@inlined
def pair_again(pairing: CodePairs, codes_before: int, holds: int, mass: int) -> None:
    """Let the pairs follow a row whose codes were ``was[:held]`` and are ``now[:holds]``."""
    for k in range(codes_before):
        pairing.stamp[pairing.was[k]] = 1
    for k in range(holds):
        pairing.stamp[pairing.now[k]] = 3 if pairing.stamp[pairing.now[k]] else 2
    for k in range(codes_before):
        if pairing.stamp[pairing.was[k]] == 1:
            pair_up(pairing, pairing.was[k], pairing.was, codes_before, wide(1), -mass)
    for k in range(holds):
        if pairing.stamp[pairing.now[k]] == 2:
            pair_up(pairing, pairing.now[k], pairing.now, holds, wide(2), mass)
    for k in range(codes_before):
        pairing.stamp[pairing.was[k]] = 0
    for k in range(holds):
        pairing.stamp[pairing.now[k]] = 0


@inlined
def pair_all(data: KrimpData, table: KrimpTable, covered: RowCovers, pairing: CodePairs) -> None:
    """Count the pairs of all rows, from nothing: the covers that change later keep them up to date."""
    pairing.counted[0] = 1
    for row in range(len(data.cells)):
        pair_again(pairing, wide(0), codes_of(data, table, covered, row, pairing.now), data.weights[row])
