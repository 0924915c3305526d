"""Microaggregation: groups of at least k records that are near to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.local_recoding.suppression import people_in
from ppdm_flow.sdk.compiled import compiled

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def distance(a: Floats, b: Floats) -> float:
    """Return the squared Euclidean distance."""
    out = 0.0
    for j in range(len(a)):
        out += (a[j] - b[j]) * (a[j] - b[j])
    return out


@compiled
def center(points: Floats, weights: Ints, left: Ints) -> Floats:
    """Return the mean of the items ``left``."""
    out, total = np.zeros(points.shape[1]), 0
    for at in left:
        total += weights[at]
        for j in range(points.shape[1]):
            out[j] += weights[at] * points[at, j]
    return out / max(1, total)


@compiled
def farthest(points: Floats, left: Ints, origin: Floats) -> int:
    """Return the item farthest from a point, the first of several."""
    best, most = left[0], -1.0
    for at in left:
        d = distance(points[at], origin)
        if d > most:
            best, most = at, d
    return int(best)


@compiled
def nearest(points: Floats, weights: Ints, left: Ints, seed: int, k: int) -> Ints:
    """Return the items nearest to ``seed``, it first, until they have k records; earlier ones of several."""
    chosen = np.empty(k + 1, dtype=np.int64)
    away = np.empty(k + 1)
    chosen[0], away[0] = seed, -1.0
    count, records = 1, weights[seed]
    for at in left:
        if at == seed:
            continue
        d = distance(points[at], points[seed])
        if records >= k and d >= away[count - 1]:
            continue
        place = count
        while place > 0 and away[place - 1] > d:
            chosen[place], away[place] = chosen[place - 1], away[place - 1]
            place -= 1
        chosen[place], away[place] = at, d
        count, records = count + 1, records + weights[at]
        while count > 1 and records - weights[chosen[count - 1]] >= k:
            count -= 1
            records -= weights[chosen[count]]
    return chosen[:count].copy()


@compiled
def mdav(points: Floats, weights: Ints, k: int) -> Ints:
    """Return the group of each item: maximum distance to average vector (Domingo-Ferrer, Torra, DMKD 11, 2005).

    ``points`` (items, axes), ``weights`` (items,) of at least 1 record, k in all at least. An item stays whole, so a
    group has at least k records; what is left at the end and too little for a group joins the last one.
    """
    n = len(points)
    group = np.full(n, -1, dtype=np.int64)
    left = np.arange(n)
    remaining, groups = weights.sum(), 0
    while remaining >= 2 * k:
        pair = remaining >= 3 * k
        seed = farthest(points, left, center(points, weights, left))
        for turn in range(2 if pair else 1):
            if remaining < k:
                break
            if turn == 1:
                seed = farthest(points, left, points[seed])
            for at in nearest(points, weights, left, seed, k):
                group[at] = groups
                remaining -= weights[at]
            groups += 1
            left = left[group[left] < 0]
    if remaining >= k:
        groups += 1
    group[left] = groups - 1
    return group


@compiled
def best_line(points: Floats, weights: Ints, k: int) -> Ints:
    """Return the groups of ascending ``points`` (items,) with the least sum of squares (Hansen, Mukherjee, 2003).

    Groups are stretches of at least k records; those of 2k and more could be divided, heavy items apart.
    """
    n = len(points)
    origin = 0.0
    for i in range(n):  # in this order: numpy's own mean adds up in another
        origin += points[i]
    origin = origin / n if n else 0.0
    total, first, second = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        x = points[i] - origin
        total[i + 1] = total[i] + weights[i]
        first[i + 1] = first[i] + weights[i] * x
        second[i + 1] = second[i] + weights[i] * x * x
    cost, before = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.int64)
    cost[0] = 0.0
    for end in range(1, n + 1):
        begin = end - 1
        while begin >= 0:
            records = total[end] - total[begin]
            if records >= k and cost[begin] < np.inf:
                moment = first[end] - first[begin]
                spread = second[end] - second[begin] - moment * moment / records
                if cost[begin] + spread < cost[end]:
                    cost[end], before[end] = cost[begin] + spread, begin
            if records - max(weights[begin], weights[end - 1]) >= 2 * k:
                break
            begin -= 1
    group = np.zeros(n, dtype=np.int64)
    end, at = n, 0
    while end > 0:
        group[before[end] : end] = at
        end, at = before[end], at + 1
    return group


@dataclass(frozen=True, slots=True, eq=False)
class ItemGroups:
    """``group`` (items,) from 0, ``size`` of them; ``slices`` is how many parts were grouped apart from each other."""

    group: Ints
    size: int
    slices: int


def grouped(points: Floats, weights: Ints, k: int, most: int) -> ItemGroups:
    """Group items ``points`` (items, axes) of ``weights`` (items,) records, 0 included, into groups of at least k.

    One axis is grouped optimally. Several are grouped by MDAV, which takes time quadratic in the items: more than
    ``most`` of them are first sorted along their first principal axis and cut into slices. Raises ValueError where
    there are fewer than k records.
    """
    if weights.sum() < k:
        raise ValueError(f"a group needs k = {k} records, but there are fewer records than that")
    some = np.flatnonzero(weights > 0)
    group = np.zeros(len(points), dtype=np.int64)
    groups = _of_present(points[some], weights[some], k, most)
    group[some] = groups.group
    for at in np.flatnonzero(weights == 0):  # items that count for nothing go where the nearest one is
        group[at] = groups.group[((points[some] - points[at]) ** 2).sum(axis=1).argmin()]
    return ItemGroups(group, groups.size, groups.slices)


def _of_present(points: Floats, weights: Ints, k: int, most: int) -> ItemGroups:
    if points.shape[1] == 1:
        order = np.argsort(points[:, 0], kind="stable")
        group = np.empty(len(points), dtype=np.int64)
        group[order] = best_line(points[order, 0], weights[order], k)
        return ItemGroups(group, int(group.max()) + 1, 1)
    parts = slices(points, weights, k, most)
    group, size = np.empty(len(points), dtype=np.int64), 0
    for part in parts:
        own = mdav(np.ascontiguousarray(points[part]), weights[part], k)
        group[part] = own + size
        size += int(own.max()) + 1
    return ItemGroups(group, size, len(parts))


def slices(points: Floats, weights: Ints, k: int, most: int) -> list[Ints]:
    """Cut the items into runs of at most ``most`` along their first principal axis, each with k records at least."""
    n = len(points)
    if n <= most:
        return [np.arange(n)]
    order = np.argsort(points @ axis(points, weights), kind="stable")
    parts: list[Ints] = []
    for part in np.array_split(order, -(-n // most)):
        if parts and (weights[parts[-1]].sum() < k or weights[part].sum() < k):
            parts[-1] = np.concatenate([parts[-1], part])
        else:
            parts.append(np.asarray(part))
    return [np.sort(part) for part in parts]


def axis(points: Floats, weights: Ints) -> Floats:
    """Return the direction of the largest variance, its largest component positive."""
    share = weights / max(1, weights.sum())
    centered = points - share @ points
    vector = np.asarray(np.linalg.eigh((centered * share[:, None]).T @ centered)[1][:, -1])
    return np.asarray(vector * np.sign(vector[np.abs(vector).argmax()]))


def with_people(groups: ItemGroups, points: Floats, items: Ints, persons: Ints, k: int) -> ItemGroups:
    """Join groups until each has ``k`` different people.

    Parameters
    ----------
    groups
        The group of each item.
    points
        (items, axes) where the items are.
    items, persons
        (rows,) the item of each row, and whose row it is.
    k
        How many people a group must have.

    Raises
    ------
    ValueError
        There are fewer people than that.

    In a round each group with too few people joins the group whose mean is nearest; so rounds are logarithmic.
    """
    from scipy.sparse import coo_matrix  # noqa: PLC0415  # most tables have a row for each person
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415  # the same
    from scipy.spatial import cKDTree  # noqa: PLC0415  # the same

    if len(np.unique(persons)) < k:
        raise ValueError(f"a group needs k = {k} people, but there are fewer people than that")
    group, size = groups.group, groups.size
    weights = np.bincount(items, minlength=len(points)).astype(np.float64)
    while True:
        small = np.flatnonzero(people_in(group[items], size, persons) < k)
        if not len(small):
            return ItemGroups(group, size, groups.slices)
        records = np.bincount(group, weights, size)
        sums = [np.bincount(group, weights * axis, size) for axis in points.T]
        means = np.stack([s / np.maximum(records, 1.0) for s in sums], axis=1)
        nearest = np.asarray(cKDTree(means).query(means[small], k=2)[1])
        other = np.where(nearest[:, 0] == small, nearest[:, 1], nearest[:, 0])
        links = coo_matrix((np.ones(len(small)), (small, other)), shape=(size, size))
        size, joined = connected_components(links, directed=False)
        group = joined.astype(np.int64)[group]
