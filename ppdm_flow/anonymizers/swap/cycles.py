"""Who gives a value to whom: random cycles within groups, without a loop over rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def givers(groups: Integers, keys: Floats) -> Integers:
    """Return for each row the row whose value it gets: one random cycle a group, so nobody keeps the own one.

    ``groups`` and ``keys`` (independent uniform draws) have shape (rows,). A group of one keeps what it has.
    """
    order = np.lexsort((keys, groups))
    ordered = groups[order]
    first = np.flatnonzero(np.append([True], ordered[1:] != ordered[:-1])[: len(order)])
    following = np.arange(1, len(order) + 1)
    following[np.append(first[1:], [len(order)])[: len(first)] - 1] = first
    out = np.empty(len(order), dtype=np.int64)
    out[order] = order[following]
    return out


def blocks(groups: Integers, values: Floats, ties: Floats, window: float) -> Integers:
    """Return a number for each row, equal for rows of one group that are near in rank.

    A block has max(2, ceil(window times the group's size)) rows; the last one of a group takes in the rest, and so has
    fewer than twice as many.
    """
    order = np.lexsort((ties, values, groups))
    _, start, place, sizes = np.unique(groups[order], return_index=True, return_inverse=True, return_counts=True)
    size = np.maximum(2, np.ceil(window * sizes)).astype(np.int64)[place]
    number = (np.arange(len(order)) - start[place]) // size
    number = np.minimum(number, np.maximum(1, sizes[place] // size) - 1)
    edge = np.append([True], (np.diff(place) != 0) | (np.diff(number) != 0))[: len(order)]
    out = np.empty(len(order), dtype=np.int64)
    out[order] = np.cumsum(edge)
    return out
