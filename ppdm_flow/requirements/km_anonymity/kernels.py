"""Supports of all small combinations of items."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Ints = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]


@compiled
def _count(
    offsets: Ints,
    items: Items,
    weights: Ints,
    persons: Ints,
    rows: Ints,
    places: Ints,
    size: int,
    counts: Ints,
    seen: Ints,
    best: Ints,
    depth: int,
) -> None:
    """Add up the items from each row's place on, and take note of the smallest sum above 0."""
    counts[:] = 0
    seen[:] = -1
    for i in range(size):
        r = rows[i]
        for place in range(places[i], offsets[r + 1]):
            if seen[items[place]] != persons[r]:
                counts[items[place]] += weights[r]
                seen[items[place]] = persons[r]
    for total in counts:
        if total > 0 and (best[depth] == 0 or total < best[depth]):
            best[depth] = total


@compiled
def smallest(offsets: Ints, items: Items, weights: Ints, persons: Ints, most: int, width: int) -> Ints:
    """Return the smallest support of an itemset of 1, …, ``most`` items that occurs; 0 where none does.

    Rows hold ascending codes below ``width``. An itemset is extended by larger codes only, within the rows that hold
    it, so that each is counted once. Rows of one number of ``persons``, which ascend, count once. What is below an
    itemset cannot matter where every size has a support of 1.
    """
    best = np.zeros(most, dtype=np.int64)
    rows = np.empty((most + 1, len(offsets) - 1), dtype=np.int64)
    places = np.empty((most + 1, len(offsets) - 1), dtype=np.int64)
    sizes = np.zeros(most + 1, dtype=np.int64)
    counts = np.zeros((most, width), dtype=np.int64)
    seen = np.zeros(width, dtype=np.int64)
    item = np.zeros(most, dtype=np.int64)
    for r in range(len(offsets) - 1):
        if weights[r] > 0:
            rows[0, sizes[0]] = r
            places[0, sizes[0]] = offsets[r]
            sizes[0] += 1
    depth = 0
    _count(offsets, items, weights, persons, rows[0], places[0], sizes[0], counts[0], seen, best, 0)
    item[0] = -1
    while depth >= 0:
        item[depth] += 1
        if item[depth] == width:
            depth -= 1
            continue
        if counts[depth, item[depth]] == 0 or depth + 1 == most or (best[depth + 1 :] == 1).all():
            continue
        wanted = item[depth]
        filled = 0
        for i in range(sizes[depth]):
            r = rows[depth, i]
            at = places[depth, i]
            while at < offsets[r + 1] and items[at] < wanted:
                at += 1
            places[depth, i] = at
            if at < offsets[r + 1] and items[at] == wanted and at + 1 < offsets[r + 1]:
                rows[depth + 1, filled] = r
                places[depth + 1, filled] = at + 1
                filled += 1
        sizes[depth + 1] = filled
        depth += 1
        item[depth] = -1
        _count(offsets, items, weights, persons, rows[depth], places[depth], filled, counts[depth], seen, best, depth)
    return best
