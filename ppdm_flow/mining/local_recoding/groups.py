"""Microaggregation: groups of at least k records that are near to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.local_recoding.group_kernels import best_line, mdav

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """``group`` (items,) from 0, ``size`` of them; ``slices`` is how many parts were grouped apart from each other."""

    group: Ints
    size: int
    slices: int


def grouped(points: Floats, weights: Ints, k: int, most: int) -> Groups:
    """Group items ``points`` (items, axes) of ``weights`` (items,) records, 0 included, into groups of at least k.

    One axis is grouped optimally. Several are grouped by MDAV, which takes time quadratic in the items: more than
    ``most`` of them are first sorted along their first principal axis and cut into slices. Raises ValueError where
    there are fewer than k records.
    """
    if weights.sum() < k:
        raise ValueError(f"a group needs k = {k} records, but there are fewer records than that")
    some = np.flatnonzero(weights > 0)
    group = np.zeros(len(points), dtype=np.int64)
    found = _of_present(points[some], weights[some], k, most)
    group[some] = found.group
    for at in np.flatnonzero(weights == 0):  # items that count for nothing go where the nearest one is
        group[at] = found.group[((points[some] - points[at]) ** 2).sum(axis=1).argmin()]
    return Groups(group, found.size, found.slices)


def _of_present(points: Floats, weights: Ints, k: int, most: int) -> Groups:
    if points.shape[1] == 1:
        order = np.argsort(points[:, 0], kind="stable")
        group = np.empty(len(points), dtype=np.int64)
        group[order] = best_line(points[order, 0], weights[order], k)
        return Groups(group, int(group.max()) + 1, 1)
    parts = slices(points, weights, k, most)
    group, size = np.empty(len(points), dtype=np.int64), 0
    for part in parts:
        own = mdav(np.ascontiguousarray(points[part]), weights[part], k)
        group[part] = own + size
        size += int(own.max()) + 1
    return Groups(group, size, len(parts))


def slices(points: Floats, weights: Ints, k: int, most: int) -> list[Ints]:
    """Cut the items into runs of at most ``most`` along their first principal axis, each with k records at least."""
    n = len(points)
    if n <= most:
        return [np.arange(n)]
    order = np.argsort(points @ axis(points, weights), kind="stable")
    found: list[Ints] = []
    for part in np.array_split(order, -(-n // most)):
        if found and (weights[found[-1]].sum() < k or weights[part].sum() < k):
            found[-1] = np.concatenate([found[-1], part])
        else:
            found.append(np.asarray(part))
    return [np.sort(part) for part in found]


def axis(points: Floats, weights: Ints) -> Floats:
    """Return the direction of the largest variance, its largest component positive."""
    share = weights / max(1, weights.sum())
    centered = points - share @ points
    vector = np.asarray(np.linalg.eigh((centered * share[:, None]).T @ centered)[1][:, -1])
    return np.asarray(vector * np.sign(vector[np.abs(vector).argmax()]))
