"""Counting the people of classes. The items of a class that are one person's stand side by side: one run of items."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@compiled
def sizes(persons: Ints, weights: Ints, order: Ints, begins: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Return people, rows and the most rows of one person, each (classes,), of classes ``order[begins:ends]``."""
    people, rows = np.zeros(len(begins), dtype=np.int64), np.zeros(len(begins), dtype=np.int64)
    most = np.zeros(len(begins), dtype=np.int64)
    for c in range(len(begins)):
        own = 0
        for at in range(begins[c], ends[c]):
            if at == begins[c] or persons[order[at]] != persons[order[at - 1]]:
                people[c] += 1
                own = 0
            own += weights[order[at]]
            rows[c] += weights[order[at]]
            most[c] = max(most[c], own)
    return people, rows, most


@compiled
def cells(
    values: Codes, size: int, persons: Ints, weights: Ints, order: Ints, begins: Ints, ends: Ints
) -> tuple[Ints, Codes, Ints, Ints, Floats]:
    """Count the values (below ``size``) of each class.

    Returns where the cells of each class begin (classes + 1,), and for each cell its value, the rows with it, the
    people with it, and the sum over people of the share of their rows of the class that have it.
    """
    rows, people, spread = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64), np.zeros(size)
    seen = np.full(size, -1, dtype=np.int64)
    room = 0
    for c in range(len(begins)):
        room += min(size, ends[c] - begins[c])
    out_begins = np.zeros(len(begins) + 1, dtype=np.int64)
    value = np.empty(room, dtype=np.int32)
    of_rows, of_people, of_spread = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    filled, run = 0, 0
    for c in range(len(begins)):
        start, at = filled, begins[c]
        while at < ends[c]:
            stop, own = at, 0
            while stop < ends[c] and persons[order[stop]] == persons[order[at]]:
                own += weights[order[stop]]
                stop += 1
            for i in range(at, stop):
                v = values[order[i]]
                if rows[v] == 0:
                    value[filled] = v
                    filled += 1
                rows[v] += weights[order[i]]
                spread[v] += weights[order[i]] / own
                if seen[v] != run:
                    seen[v] = run
                    people[v] += 1
            run += 1
            at = stop
        for i in range(start, filled):
            v = value[i]
            of_rows[i], of_people[i], of_spread[i] = rows[v], people[v], spread[v]
            rows[v], people[v], spread[v] = 0, 0, 0.0
        out_begins[c + 1] = filled
    return out_begins, value[:filled].copy(), of_rows[:filled], of_people[:filled], of_spread[:filled]


@compiled
def by_class(ids: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the items class by class, each class's in their order, and where each class begins (size + 1,).

    ``ids`` (items,) number the classes from 0; items with a negative one are left out.
    """
    begins = np.zeros(size + 1, dtype=np.int64)
    for i in range(len(ids)):
        if ids[i] >= 0:
            begins[ids[i] + 1] += 1
    for c in range(size):
        begins[c + 1] += begins[c]
    free = begins[:-1].copy()
    order = np.empty(begins[size], dtype=np.int64)
    for i in range(len(ids)):
        if ids[i] >= 0:
            order[free[ids[i]]] = i
            free[ids[i]] += 1
    return order, begins
