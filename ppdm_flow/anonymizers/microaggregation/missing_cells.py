"""Groups beside missing cells: rows are grouped with those of their stratum that miss the same attributes.

A missing cell stays missing, so a group of k equal rows has k rows that miss the same. Where fewer than k rows of a
stratum miss the same attributes, cells of other rows are emptied until k do: as few as a greedy choice finds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.local_recoding.groups import Floats, Ints, ItemGroups, grouped
from ppdm_flow.mining.local_recoding.people_groups import with_people

Bools = npt.NDArray[np.bool_]
_MOST_CHOICES = 20
"""With so many patterns, the most similar ones, joining is tried."""


@dataclass(frozen=True, slots=True, eq=False)
class IncompleteRows:
    """Distinct rows: ``points``, one array (items, axes) an attribute, and which cells are ``missing``.

    ``missing`` has shape (items, attributes), ``weights`` (items,). Where people count, ``of_row`` (rows,) is the item
    of each row and ``persons`` (rows,) whose row it is.
    """

    points: tuple[Floats, ...]
    missing: Bools
    weights: Ints
    of_row: Ints
    persons: Ints | None

    def size(self, items: Ints) -> int:
        """Return how many rows the items have, or how many people where people count."""
        if self.persons is None:
            return int(self.weights[items].sum())
        return len(np.unique(self.persons[np.isin(self.of_row, items)]))

    def coordinates(self, items: Ints, attributes: Ints) -> Floats:
        """Return the coordinates of items over some attributes, shape (items, axes)."""
        chosen = [self.points[j][items] for j in attributes]
        return np.ascontiguousarray(np.concatenate([np.zeros((len(items), 0)), *chosen], axis=1))


def patterns_of_k(items: IncompleteRows, strata: Ints, k: int, *, apart: bool) -> Bools:
    """Return which cells are missing in the release, shape (items, attributes).

    In each stratum k rows miss the same attributes. ``apart``: one attribute whose missing cells need no company;
    its values do, and are emptied where a stratum has fewer than k rows with one.
    """
    patterns = items.missing.copy()
    for rows in _equal_rows(strata[:, None]):
        missing = items.missing[rows]
        if apart:
            patterns[rows] |= items.size(rows[~missing[:, 0]]) < k
        elif missing.any():
            _join_patterns(items, patterns, rows, k)
    return patterns


def _join_patterns(items: IncompleteRows, patterns: Bools, rows: Ints, k: int) -> None:
    """Empty cells of the items ``rows`` of one stratum, in place, until each pattern has k rows."""
    while True:
        members = [rows[part] for part in _equal_rows(patterns[rows])]
        sizes = [items.size(part) for part in members]
        if min(sizes) >= k or len(members) == 1:
            return
        own = members.pop(int(np.argmin(sizes)))
        differing = [int((patterns[own[0]] ^ patterns[other[0]]).sum()) for other in members]
        choices = []
        for place in np.argsort(differing, kind="stable")[:_MOST_CHOICES].tolist():
            union = patterns[own[0]] | patterns[members[place][0]]
            alike = [part for part in members if (patterns[part[0]] == union).all()]
            joined = np.union1d(own, alike[0]) if alike else own
            moved = np.union1d(joined, _nearest(items, own, joined, members[place], union, k))
            emptied = (union & ~patterns[moved]).sum(axis=1)
            choices.append((int(items.weights[moved] @ emptied), place, moved, union))
        _, _, moved, union = min(choices, key=lambda choice: choice[:2])
        patterns[moved] = union


def _nearest(items: IncompleteRows, own: Ints, joined: Ints, others: Ints, union: Bools, k: int) -> Ints:
    """Return those of ``others`` that are nearest to ``own`` until there are k rows with what is ``joined`` already.

    All of them, where fewer than k would be left.
    """
    shared = np.flatnonzero(~union)
    center = items.coordinates(own, shared).mean(axis=0)
    away = ((items.coordinates(others, shared) - center) ** 2).sum(axis=1)
    order = others[np.argsort(away, kind="stable")]
    several = next((n for n in range(len(order) + 1) if items.size(np.union1d(joined, order[:n])) >= k), len(order))
    left = np.setdiff1d(order[several:], joined)
    return order if len(left) and items.size(left) < k else order[:several]


def grouped_apart(items: IncompleteRows, strata: Ints, patterns: Bools, k: int, most: int) -> ItemGroups:
    """Group the items of each stratum and pattern by themselves; where all is missing, they are one group."""
    group, size, slices = np.zeros(len(strata), dtype=np.int64), 0, 1
    for rows in _equal_rows(np.column_stack([strata, patterns])):
        points = items.coordinates(rows, np.flatnonzero(~patterns[rows[0]]))
        if points.shape[1]:
            own = _grouped(items, rows, points, k, most)
            group[rows], slices = own.group + size, max(slices, own.slices)
            size += own.size
        else:
            group[rows] = size
            size += 1
    return ItemGroups(group, size, slices)


def _grouped(items: IncompleteRows, rows: Ints, points: Floats, k: int, most: int) -> ItemGroups:
    groups = grouped(points, items.weights[rows], k, most)
    if items.persons is None:
        return groups
    here = np.isin(items.of_row, rows)
    return with_people(groups, points, np.searchsorted(rows, items.of_row[here]), items.persons[here], k)


def _equal_rows(keys: npt.NDArray[np.generic]) -> list[Ints]:
    """Return the positions of the rows of ``keys`` (n, d) that are equal, each set ascending."""
    _, which, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return np.split(np.argsort(which.ravel(), kind="stable"), np.cumsum(sizes)[:-1])[: len(sizes)]
