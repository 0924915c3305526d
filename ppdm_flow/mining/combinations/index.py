"""Owners' codes from the rarest to the most frequent, and for each code where it stands.

A code that owners have several times becomes several entries, its copies: a combination with the second copy has the
first one too. Rare codes come first, so that a combination is looked for among the few owners of its rarest code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.combinations.owners import Codes, Ints, Owners
from ppdm_flow.sdk.compiled import compiled


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
