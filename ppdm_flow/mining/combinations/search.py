"""Find the combinations of so many codes that fewer owners than a number have, one after the other.

A combination grows by entries that come later in the index, within the owners that have it; the owners of its last
entry are only counted. So the time goes with the combinations within each owner, not with those of the alphabet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.combinations.owners import Codes, Ints, Owners
from ppdm_flow.sdk.compiled import compiled

Flags = npt.NDArray[np.bool_]

FOUND, DONE, TIRED = 1, 0, -1
MOST_STEPS = 50_000_000_000
"""Entries that a search looks at before it gives up: some minutes."""


class TooManyCombinationsError(Exception):
    """Some owners have so many codes that their combinations cannot be counted."""


class CombinationSearch(NamedTuple):
    """The state of a search for combinations of one size, by depth: how many entries were chosen before.

    ``candidates[d, :many[d]]`` are the entries that may come next, of which ``turn[d]`` were tried, with the owners of
    each in ``counts[d]``. The owners of candidate i are in ``holders[d, starts[d, i]:starts[d, i + 1]]``, and
    ``places`` says where they have it. ``chosen`` is the combination. ``progress`` is (depth, steps). ``seen`` is room
    for work: the last person who counted for an entry.
    """

    chosen: Ints
    candidates: Codes
    many: Ints
    turn: Ints
    counts: Ints
    slot: Codes
    starts: Ints
    holders: Codes
    places: Ints
    progress: Ints
    seen: Ints


def search_of(index: CodeIndex, size: int) -> CombinationSearch:
    """Return a search that has not begun."""
    entries = len(index.code)
    inner = max(1, size - 1)  # the depths whose owners are kept; the first one is in the index
    search = CombinationSearch(
        chosen=np.zeros(size, dtype=np.int64),
        candidates=np.zeros((size, entries), dtype=np.int32),
        many=np.zeros(size, dtype=np.int64),
        turn=np.zeros(size, dtype=np.int64),
        counts=np.zeros((size, entries), dtype=np.int64),
        slot=np.zeros((size, entries), dtype=np.int32),
        starts=np.zeros((inner, entries + 1 if inner > 1 else 1), dtype=np.int64),
        holders=np.zeros((inner, len(index.entries) if inner > 1 else 0), dtype=np.int32),
        places=np.zeros((inner, len(index.entries) if inner > 1 else 0), dtype=np.int64),
        progress=np.zeros(2, dtype=np.int64),
        seen=np.zeros(entries, dtype=np.int64),
    )
    search.candidates[0] = np.arange(entries)
    search.many[0] = entries
    search.counts[0] = index.support
    return search


@compiled
def following(index: CodeIndex, search: CombinationSearch, passed: Flags, fewer: int, most_steps: int) -> int:
    """Find the next combination that fewer than ``fewer`` have, and leave it in ``search.chosen``.

    ``passed`` entries are left out from now on, also those of the present combination. Returns FOUND, DONE, or TIRED
    after so many steps.
    """
    size = len(search.chosen)
    depth = search.progress[0]
    for d in range(depth):
        if passed[search.chosen[d]]:
            while depth > d:
                _leave(search, depth)
                depth -= 1
            break
    while True:
        if search.turn[depth] == search.many[depth]:
            if depth == 0:
                search.progress[0] = 0
                return DONE
            _leave(search, depth)
            depth -= 1
            continue
        place = search.turn[depth]
        entry = search.candidates[depth, place]
        search.turn[depth] += 1
        before = index.before[entry]
        if passed[entry] or (before >= 0 and (depth == 0 or search.chosen[depth - 1] != before)):
            continue
        search.chosen[depth] = entry
        if depth + 1 == size:
            if search.counts[depth, entry] < fewer:
                search.progress[0] = depth
                return FOUND
            continue
        _descend(index, search, passed, depth, place)
        depth += 1
        if search.progress[1] > most_steps:
            search.progress[0] = depth
            return TIRED


@compiled
def _leave(search: CombinationSearch, depth: int) -> None:
    """Forget what was counted at a depth."""
    for i in range(search.many[depth]):
        search.counts[depth, search.candidates[depth, i]] = 0
        search.slot[depth, search.candidates[depth, i]] = 0
    search.many[depth] = 0


@compiled
def _descend(index: CodeIndex, search: CombinationSearch, passed: Flags, depth: int, place: int) -> None:
    """Count the entries after the chosen one, among the owners of the combination; remember where they are."""
    below = depth + 1
    entry = search.chosen[depth]
    counts, slot = search.counts[below], search.slot[below]
    if depth == 0:
        holders, places = (
            index.owners[index.at[entry] : index.at[entry + 1]],
            index.places[index.at[entry] : index.at[entry + 1]],
        )
    else:
        i, j = search.starts[depth, place], search.starts[depth, place + 1]
        holders, places = search.holders[depth, i:j], search.places[depth, i:j]
    many = 0
    for i in range(len(holders)):
        o = holders[i]
        for p in range(places[i], index.begins[o + 1]):
            e = index.entries[p]
            if passed[e]:
                continue
            if slot[e] == 0:
                search.candidates[below, many] = e
                search.seen[e] = -1
                many += 1
            slot[e] += 1
            if search.seen[e] != index.persons[o]:
                counts[e] += index.weights[o]
                search.seen[e] = index.persons[o]
        search.progress[1] += index.begins[o + 1] - places[i]
    search.many[below] = many
    search.turn[below] = 0
    search.candidates[below, :many].sort()
    if below + 1 == len(search.chosen):
        return
    starts = search.starts[below]
    starts[0] = 0
    for i in range(many):
        e = search.candidates[below, i]
        starts[i + 1] = starts[i] + slot[e]
        slot[e] = i
    filled = starts[:many].copy()
    for i in range(len(holders)):
        o = holders[i]
        for p in range(places[i], index.begins[o + 1]):
            e = index.entries[p]
            if not passed[e]:
                at = filled[slot[e]]
                search.holders[below, at] = o
                search.places[below, at] = p + 1
                filled[slot[e]] += 1


@compiled
def _listed(
    index: CodeIndex, search: CombinationSearch, fewer: int, out: Codes, supports: Ints, most_steps: int
) -> tuple[int, int]:
    """Fill ``out`` with combinations, and return how many there are, and how the search ended."""
    passed = np.zeros(len(index.code), dtype=np.bool_)
    size, count, state = len(search.chosen), 0, FOUND
    while count < len(out):
        state = following(index, search, passed, fewer, most_steps)
        if state != FOUND:
            break
        for d in range(size):
            out[count, d] = index.code[search.chosen[d]]
        supports[count] = search.counts[size - 1, search.chosen[size - 1]]
        count += 1
    return count, state


@compiled
def _smallest(index: CodeIndex, search: CombinationSearch, fewer: int, floor: int, most_steps: int) -> tuple[int, int]:
    """Return the smallest support below ``fewer``, or ``fewer``; stop where none can be below, at ``floor``."""
    passed = np.zeros(len(index.code), dtype=np.bool_)
    state = FOUND
    while fewer > floor:
        state = following(index, search, passed, fewer, most_steps)
        if state != FOUND:
            break
        fewer = search.counts[len(search.chosen) - 1, search.chosen[len(search.chosen) - 1]]
    return fewer, state


def rare(owned: Owners, size: int, fewer: int, at_most: int = 10_000, steps: int = MOST_STEPS) -> tuple[Codes, Ints]:
    """Return the combinations of exactly ``size`` codes that occur and fewer than ``fewer`` own, and their owners.

    Codes of shape (combinations, size), a code that a combination has twice stands in it twice; supports of shape
    (combinations,). No more than ``at_most`` are returned. Raises TooManyCombinationsError.
    """
    index = indexed(owned, size)
    out, supports = np.zeros((at_most, size), dtype=np.int32), np.zeros(at_most, dtype=np.int64)
    count, state = _listed(index, search_of(index, size), fewer, out, supports, steps)
    if state == TIRED:
        raise TooManyCombinationsError
    return np.sort(out[:count], axis=1), supports[:count]


def smallest(owned: Owners, size: int, steps: int = MOST_STEPS) -> int:
    """Return the fewest owners of a combination of exactly ``size`` codes that occurs; 0 where none does.

    It ends with the first combination of one owner, which among long lists of codes is soon met. Raises
    TooManyCombinationsError.
    """
    index = indexed(owned, size)
    none = int(owned.weights.sum()) + 1
    floor = int(owned.weights.min(initial=none))
    fewest, state = _smallest(index, search_of(index, size), none, floor, steps)
    if state == TIRED:
        raise TooManyCombinationsError
    return 0 if fewest == none else fewest


# Owners' codes from the rarest to the most frequent, and for each code where it stands.
#
# A code that owners have several times becomes several entries, its copies: a combination with the second copy has the
# first one too. Rare codes come first, so that a combination is looked for among the few owners of its rarest code.


class CodeIndex(NamedTuple):
    """Entries are copies of codes, numbered from the rarest code on.

    Owner o has ``entries[begins[o]:begins[o + 1]]``, ascending. Entry e stands in the owners
    ``owners[at[e]:at[e + 1]]``, before ``places`` in ``entries``. ``code`` and ``before`` (the entry of the copy before
    it, or -1) are of shape (entries,), and so is ``support``, the owners of each with their weights. Owners of one
    number of ``persons``, which ascend, count once.
    """

    begins: Ints
    entries: Codes
    weights: Ints
    persons: Ints
    at: Ints
    owners: Codes
    places: Ints
    code: Codes
    before: Codes
    support: Ints


def indexed(owned: Owners, most: int) -> CodeIndex:
    """Return the index for combinations of at most ``most`` codes."""
    times = np.minimum(owned.times, most).astype(np.int32)
    weights = owned.weights[owned.rows()]
    support = np.zeros(owned.width, dtype=np.int64)
    np.add.at(support, owned.codes, weights)
    copies = np.zeros(owned.width, dtype=np.int64)
    np.maximum.at(copies, owned.codes, times)
    order = np.argsort(support, kind="stable")
    first = np.zeros(owned.width, dtype=np.int64)
    first[order] = np.cumsum(copies[order]) - copies[order]
    code = np.repeat(order, copies[order]).astype(np.int32)
    number = np.arange(len(code), dtype=np.int64)
    before = np.where(number == first[code], -1, number - 1).astype(np.int32)
    begins, entries, at, holders, places, supports = _filled(
        owned.begins, owned.codes, times, owned.weights, owned.counted_as, first, len(code)
    )
    return CodeIndex(begins, entries, owned.weights, owned.counted_as, at, holders, places, code, before, supports)


@compiled
def _filled(
    begins: Ints, codes: Codes, times: Codes, weights: Ints, persons: Ints, first: Ints, many: int
) -> tuple[Ints, Codes, Ints, Codes, Ints, Ints]:
    """Put entries in order by two passes of counting: by entry, then back by owner."""
    owners = len(begins) - 1
    at = np.zeros(many + 1, dtype=np.int64)
    ends = np.zeros(owners + 1, dtype=np.int64)
    support = np.zeros(many, dtype=np.int64)
    seen = np.full(many, -1, dtype=np.int64)
    for o in range(owners):
        ends[o + 1] = ends[o]
        for p in range(begins[o], begins[o + 1]):
            ends[o + 1] += times[p]
            for copy in range(times[p]):
                e = first[codes[p]] + copy
                at[e + 1] += 1
                if seen[e] != persons[o]:
                    support[e] += weights[o]
                    seen[e] = persons[o]
    for e in range(many):
        at[e + 1] += at[e]
    holders = np.empty(at[many], dtype=np.int32)
    places = np.empty(at[many], dtype=np.int64)
    entries = np.empty(at[many], dtype=np.int32)
    filled = at[:-1].copy()
    for o in range(owners):
        for p in range(begins[o], begins[o + 1]):
            for copy in range(times[p]):
                e = first[codes[p]] + copy
                holders[filled[e]] = o
                filled[e] += 1
    used = ends[:-1].copy()
    for e in range(many):
        for i in range(at[e], at[e + 1]):
            o = holders[i]
            entries[used[o]] = e
            used[o] += 1
            places[i] = used[o]
    return ends, entries, at, holders, places, support
