"""Local suppression: the cells to suppress so that every class has at least k records, a suppressed cell being a value.

Greedy: sets of attributes are tried from the cheapest on. Rows lose the cells of a set where enough of them, with the
rows that are there already, then form a class (the task of Sweeney 2002, and of sdcMicro's localSuppression, which
counts a suppressed cell as any value and so suppresses less for a weaker promise).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.kernels import keyed, numbered, summed

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
HOLE = 0
"""The code of a suppressed cell."""
MOST_SETS = 4096
"""Sets of attributes that are tried; beyond that, small ones and the set of all."""


@dataclass(frozen=True, slots=True, eq=False)
class Suppression:
    """``codes`` (rows, attributes) after suppression; ``risky`` were in a class below k, ``lost`` still are."""

    codes: Ints
    risky: Bools
    lost: Bools


def suppressed(codes: Ints, weights: Ints, k: int, costs: Sequence[float], persons: Ints | None = None) -> Suppression:
    """Suppress cells of ``codes`` (rows, attributes), of ``weights`` (rows,) records each.

    ``costs`` (attributes,) are what a suppressed cell costs. A suppressed cell has the code `HOLE`, before as well.
    ``persons`` (rows,): where people count, whose row each is.
    """
    out = codes.copy()
    kept = enough(out, weights, k, persons)
    risky = ~kept
    for chosen in sets(costs):
        left = np.flatnonzero(~kept)
        if not len(left):
            break
        trial = codes[left]
        trial[:, chosen] = HOLE
        there = np.flatnonzero(kept & (out[:, chosen] == HOLE).all(axis=1))
        both, rows = np.concatenate([trial, out[there]]), np.concatenate([left, there])
        good = enough(both, weights[rows], k, None if persons is None else persons[rows])[: len(left)]
        out[left[good]] = trial[good]
        kept[left[good]] = True
    return Suppression(out, risky, ~kept)


def enough(codes: Ints, weights: Ints, k: int, persons: Ints | None = None) -> Bools:
    """Return which rows are in a class of at least k records, or of k people."""
    ids, first = numbered(keyed(codes))
    if persons is None:
        return np.asarray(summed(ids, weights, len(first))[ids] >= k)
    return np.asarray(people_in(ids, len(first), persons)[ids] >= k)


def people_in(ids: Ints, size: int, persons: Ints) -> Ints:
    """Return the people of each class, shape (size,); ``ids`` (rows,) number the classes, ``persons`` whose rows."""
    width = int(persons.max(initial=0)) + 1
    first = numbered(ids * width + persons)[1]
    return np.bincount(ids[first], minlength=size).astype(np.int64)


def sets(costs: Sequence[float]) -> list[list[int]]:
    """Return sets of attributes, cheaper ones first, of equal ones those with fewer attributes."""
    d = len(costs)
    sizes, number = range(1, d + 1), 0
    every: list[tuple[int, ...]] = []
    for size in sizes:
        number += comb(d, size)
        if number > MOST_SETS and size < d:
            every.append(tuple(range(d)))
            break
        every += combinations(range(d), size)
    return [list(s) for s in sorted(every, key=lambda s: (sum(costs[j] for j in s), len(s), s))]
