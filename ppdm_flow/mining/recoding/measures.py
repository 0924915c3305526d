"""Measures of equivalence classes over one sensitive attribute, all classes at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.grouping import Cells

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_DENSE = 1 << 22
"""Cells of a dense matrix that is made at a time."""


def distinct(cells: Cells) -> Ints:
    """Return the number of values in each class."""
    return np.diff(cells.begins)


def shares(cells: Cells, sizes: Ints) -> Floats:
    """Return the share of each cell in its class."""
    found: Floats = cells.count / np.repeat(np.where(sizes > 0, sizes, 1), distinct(cells))
    return found


def added(cells: Cells, terms: Floats) -> Floats:
    """Add up one number for each cell, class by class."""
    return np.bincount(cells.owner, terms, len(cells.begins) - 1).astype(np.float64)


def entropies(cells: Cells, sizes: Ints) -> Floats:
    """Return the entropy of each class in nats."""
    share = shares(cells, sizes)
    return added(cells, -share * np.log(share))


def largest(begins: Ints, count: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the largest of each class's numbers, 0 for a class without any."""
    out = np.zeros(len(begins) - 1, dtype=count.dtype)
    some = begins[:-1] < begins[1:]
    if some.any():
        out[some] = np.maximum.reduceat(count, begins[:-1][some])
    return out


def heads_and_tails(cells: Cells, rank: int) -> tuple[Ints, Ints]:
    """Return the largest count of each class, and the sum of its counts from the ``rank``-th largest on."""
    owner = cells.owner
    count = cells.count[np.lexsort((-cells.count, owner))]
    late = np.arange(len(count)) - cells.begins[owner] >= rank - 1
    total = np.concatenate([[0], np.cumsum(np.where(late, count, 0))])
    return largest(cells.begins, count), total[cells.begins[1:]] - total[cells.begins[:-1]]


def equal_distances(cells: Cells, sizes: Ints, base: Floats) -> Floats:
    """Return half the sum of |p - q|: the sum of what p has more than q."""
    gain = np.maximum(shares(cells, sizes) - base[cells.value], 0.0)
    return added(cells, gain)


def ordered_distances(cells: Cells, sizes: Ints, base: Floats) -> Floats:
    """Return the sum of |cumulated p - q| over m - 1, for m values in order of their codes."""
    m = len(base)
    out = np.zeros(len(sizes))
    if m < 2:
        return out
    share, owner, target = shares(cells, sizes), cells.owner, np.cumsum(base)[:-1]
    step = max(1, _DENSE // m)
    for start in range(0, len(sizes), step):
        stop = min(start + step, len(sizes))
        here = slice(cells.begins[start], cells.begins[stop])
        dense = np.zeros((stop - start, m))
        dense[owner[here] - start, cells.value[here]] = share[here]
        out[start:stop] = np.abs(np.cumsum(dense, axis=1)[:, :-1] - target).sum(axis=1) / (m - 1)
    return out
