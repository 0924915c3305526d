"""All that the search for a code table keeps up to date: elements, the cover of every row, who could cover what.

*Elements* are the itemsets in the code table that have two items or more, in slots; singletons are told by item. A
*mask* has a bit for each place of a row, so that covering is bit arithmetic whatever the alphabet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import Words, weight_planes, words_for
from ppdm_flow.mining.itemsets.database import Database

Counts = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

TOTAL, CODES, ELEMENTS, POOL, TRIED_TOTAL, TRIED_CODES, TOUCHED, HEAD, TAIL, SAME, ACCEPTED, PRUNED, PAIRED = range(13)
"""Places in ``State.numbers``: the sum of usages and how many codes are in use; elements in the table; the pool's end;
the same two as the change on trial would leave them; how many usages it touches; of the row covered last, how many
elements of its cover stay, how many follow, whether its singletons stay the same; additions and removals so far;
whether pairs are counted."""

MOST_BITS = 1 << 32
"""``free`` takes at most so many bits (512 MB)."""
MOST_LOGS = 1 << 22


class State(NamedTuple):
    """R rows with P places in W mask words, I items, E slots for elements of at most ``longest`` items.

    Database: ``cells`` (R, P), ``weights`` (R,), ``planes`` and ``ends`` (weights as bits), ``place`` (I,),
    ``present`` (R, W), ``begin`` (I + 1,) and ``rows``: the rows of each item; ``standard`` (I,): bits of each item
    under the standard code table; ``logs``: (u + 1) log2 u for small u.

    ``free`` (levels, lines, words): the rows in which item i, of line ``line[i]``, is not covered by an element of
    length l + 2 or more; the last level has all rows of the item. Rare items have no line.

    Elements: ``items`` (E, longest), ``length``, ``support``, ``mask`` (E, W), ``rank`` (E,): place in cover order;
    ``order``: slots by rank; ``spare``: slots that are free, from ``spare[ELEMENTS]`` on. ``usage`` (E + I,): of
    elements by slot, of item i at E + i; ``bits`` (E + I,) their sizes under the standard code table.

    Rows: ``cover`` (R, P // 2) the elements of the cover in order, ``covers`` (R,) how many, ``single`` (R, W) what is
    left to singletons. The elements that a row contains, in cover order, are ``pool[at[r]:at[r] + held[r]]``, with
    room for ``room[r]``.

    For SLIM, N = E + I, else 0: ``pairs`` (N, N): the weight of the rows that use both codes; ``tried`` (N, N): pairs
    that were of no use as they are; ``dirty`` (N,): codes whose rows have changed. The rest is room for single steps.
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
    free: Words
    items: Items
    length: Items
    support: Counts
    mask: Words
    rank: Items
    order: Items
    spare: Items
    usage: Counts
    bits: Floats
    cover: Items
    covers: Items
    single: Words
    pool: Items
    at: Counts
    held: Items
    room: Items
    numbers: Counts
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
    pairs: Items
    tried: Bytes
    stamp: Bytes
    dirty: Bytes
    was: Items
    now: Items


def standard_bits(database: Database) -> Floats:
    """Return the code length of each item under the standard code table: -log2(support / sum); 0 if it never occurs."""
    supports = database.supports.astype(np.float64)
    bits = np.zeros(len(supports))
    here = supports > 0
    bits[here] = np.log2(max(supports.sum(), 1)) - np.log2(supports[here])
    return bits


def begin_state(database: Database, longest: int, slots: int = 256, *, pairing: bool = False) -> State:
    """Return the standard code table: every cell is covered by its singleton."""
    rows, places = database.cells.shape
    width = max(1, words_for(places))
    numbers = np.zeros(13, dtype=np.int64)
    numbers[TOTAL], numbers[CODES] = database.supports.sum(), np.count_nonzero(database.supports)
    numbers[POOL] = 4 * rows
    data = _data(database, longest)
    size = slots + database.items
    square = (size, size) if pairing else (0, 0)
    return State(
        **data,
        items=np.zeros((slots, longest), dtype=np.int32),
        length=np.zeros(slots, dtype=np.int32),
        support=np.zeros(slots, dtype=np.int64),
        mask=np.zeros((slots, width), dtype=np.uint64),
        rank=np.zeros(slots, dtype=np.int32),
        order=np.zeros(slots, dtype=np.int32),
        spare=np.arange(slots, dtype=np.int32),
        usage=np.concatenate([np.zeros(slots, dtype=np.int64), database.supports]),
        bits=np.concatenate([np.zeros(slots), data["standard"]]),
        cover=np.zeros((rows, max(1, places // 2)), dtype=np.int32),
        covers=np.zeros(rows, dtype=np.int32),
        single=data["present"].copy(),
        pool=np.zeros(16 * rows, dtype=np.int32),
        at=np.arange(0, 4 * rows, 4, dtype=np.int64),
        held=np.zeros(rows, dtype=np.int32),
        room=np.full(rows, 4, dtype=np.int32),
        numbers=numbers,
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
        pairs=np.zeros(square, dtype=np.int32),
        tried=np.zeros(square, dtype=np.uint8),
        stamp=np.zeros(size, dtype=np.uint8),
        dirty=np.zeros(size, dtype=np.uint8),
        was=np.zeros(places + 1, dtype=np.int32),
        now=np.zeros(places + 1, dtype=np.int32),
    )


def _data(database: Database, longest: int) -> dict[str, Any]:
    """Return what a search does not change, and the bits of the cells that are free."""
    cells = database.cells
    rows, places = cells.shape
    row, place = np.nonzero(cells >= 0)
    item = cells[row, place]
    present = np.zeros((rows, max(1, words_for(places))), dtype=np.uint64)
    np.bitwise_or.at(present, (row, place >> 6), np.uint64(1) << (place & 63).astype(np.uint64))
    occurring = np.bincount(item, minlength=database.items)
    line, levels = _lines(occurring, words_for(rows), longest)
    planes, ends = weight_planes(database.weights)
    counts = np.arange(min(database.rows, MOST_LOGS) + 1, dtype=np.float64)
    return {
        "cells": cells,
        "weights": database.weights,
        "planes": planes,
        "ends": ends,
        "place": database.place,
        "present": present,
        "begin": np.concatenate([[0], np.cumsum(occurring)]).astype(np.int64),
        "rows": row[np.argsort(item, kind="stable")].astype(np.int32),
        "standard": standard_bits(database),
        "logs": (counts + 1) * np.log2(np.maximum(counts, 1)),
        "line": line,
        "free": np.repeat(database.vertical(line)[None], levels, axis=0),
    }


def _lines(occurring: Counts, words: int, longest: int) -> tuple[Items, int]:
    """Give lines of bits to the items that fill them best, and say how many levels fit."""
    least = max(1, words // 4)
    while 2 * 64 * words * np.count_nonzero(occurring >= least) > MOST_BITS:
        least *= 2
    dense = np.flatnonzero(occurring >= least)
    line = np.full(len(occurring), -1, dtype=np.int32)
    line[dense] = np.arange(len(dense), dtype=np.int32)
    levels = min(longest, MOST_BITS // max(1, 64 * words * len(dense)))
    return line, max(levels, 1)


def with_slots(s: State) -> State:
    """Return the state with twice the slots."""
    slots, more = len(s.length), 2 * len(s.length)

    def taller(old: Any) -> Any:
        return np.concatenate([old, np.zeros((more - slots, *old.shape[1:]), dtype=old.dtype)])

    def inner(old: Any) -> Any:
        return np.concatenate([taller(old[:slots]), old[slots:]])

    spare = np.concatenate([s.spare, np.arange(slots, more, dtype=np.int32)])
    named = {
        name: taller(getattr(s, name))
        for name in ("items", "length", "support", "mask", "rank", "order", "queue", "fresh")
    }
    split = {
        name: inner(getattr(s, name)) for name in ("usage", "bits", "change", "marked", "touched", "stamp", "dirty")
    }
    if len(s.pairs):
        split |= {name: inner(inner(getattr(s, name)).T).T.copy() for name in ("pairs", "tried")}
    return s._replace(spare=spare, **named, **split)


def with_pool(s: State) -> State:
    """Return the state with twice the pool."""
    return s._replace(pool=np.concatenate([s.pool, np.zeros(len(s.pool), dtype=np.int32)]))
