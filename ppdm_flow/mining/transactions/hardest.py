"""The itemsets that are hardest to protect among all whose supports stay below given maxima.

Given the largest support S_i that any i items have, what an adversary learns of z is a ratio of two linear functions of
the shares of transactions that hold z or not, and i of the other items. Averaging over those others changes neither the
ratio nor the constraints, so these 2 (o + 1) shares are all there is, o the number of others; and a ratio of linear
functions is largest at a vertex of the shares that the maxima allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb

import numpy as np
from scipy.optimize import linprog

from ppdm_flow.mining.transactions.breaches import level
from ppdm_flow.mining.transactions.laws import Floats

FEW = 8
"""Unknown shares up to which all vertices are listed; above, a program is solved each time."""

SLACK = 1e-12

Maxima = Sequence[float] | Mapping[int, Sequence[float]]
"""The largest supports S_1, S_2, .. within the transactions of one size: the same for all sizes m, or by m."""


@dataclass(frozen=True, slots=True, eq=False)
class Polytope:
    """Shares x >= 0 that sum to 1 with ``caps`` x <= ``limits``; overlap and item tell what each share is of.

    Attributes
    ----------
    caps, limits : one row for each set of items whose support has a maximum, shapes (c, v) and (c,)
    overlap : |t ∩ A| of each share, shape (v,)
    holds : whether z in t, shape (v,)
    length : k = |A|
    """

    caps: Floats
    limits: Floats
    overlap: Floats
    holds: Floats
    length: int

    def partial(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return s_l and s+_l of shares of shape (..., v); shapes (..., k + 1)."""
        places = (self.overlap[:, None] == np.arange(self.length + 1)).astype(np.float64)
        return shares @ places, (shares * self.holds) @ places


def check_maxima(maxima: Sequence[float]) -> tuple[float, ...]:
    """Return S_1.. as floats. Raises ValueError unless they are shares in (0, 1] that do not rise with the size."""
    shares = tuple(float(s) for s in maxima)
    if not shares or not all(0.0 < s <= 1.0 for s in shares):
        raise ValueError("maximal supports are one or more shares above 0, up to 1")
    if any(later > earlier for earlier, later in pairwise(shares)):
        raise ValueError("a larger itemset cannot have the larger maximal support")
    return shares


def maxima_of(maxima: Maxima, size: int) -> tuple[float, ...]:
    """Return S_1.. within transactions of ``size`` items. Raises ValueError where none are given for that size."""
    if not isinstance(maxima, Mapping):
        return check_maxima(maxima)
    if size not in maxima:
        raise ValueError("a transaction size has no maximal supports")
    return check_maxima(maxima[size])


def privacy_challenging(maxima: Sequence[float], length: int, size: int | None = None) -> Floats | None:
    """Return s_0..s_k where every i of the k items have the maximal support S_i, or None if no such itemset exists.

    s_l = C(k, l) sum_i (-1)^i C(k - l, i) S_(l+i) with S_0 = 1; S_i = 0 for i above ``size``. The paper's choice,
    section 5; items are alike. It is not quite the worst: see ``hardest``.
    """
    support_maxima = _supports(maxima, length, size)
    supports = np.array(
        [
            comb(length, hits)
            * sum((-1) ** i * comb(length - hits, i) * support_maxima[hits + i] for i in range(length - hits + 1))
            for hits in range(length + 1)
        ]
    )
    return None if supports.min() < -SLACK else np.maximum(supports, 0.0)


def hardest(
    maxima: Sequence[float], length: int, size: int, likelihood: Floats, *, inside: bool = True
) -> tuple[float, Floats, Floats]:
    """Return the largest Pr[z in t | event] that the maxima allow, with the s_l and s+_l that have it.

    ``likelihood`` R_l of the event, shape (k + 1,), not all 0. ``inside``: whether z is in A. Where there are few
    shares all vertices are looked at, else a linear-fractional program is solved (Charnes and Cooper 1962).
    """
    room = polytope(check_maxima(maxima), length, size, inside=inside)
    if len(room.overlap) > FEW:
        return by_program(room, likelihood)
    supports, with_item = corners(check_maxima(maxima), length, size, inside=inside)
    levels = level(likelihood, supports, with_item)
    best = int(np.argmax(levels))
    return float(levels[best]), supports[best], with_item[best]


def by_program(room: Polytope, likelihood: Floats) -> tuple[float, Floats, Floats]:
    """Return the same by one linear program: y = x / (x R), its sum free, y R = 1.

    Its unknowns are y R, since likelihoods of one operator may differ by many orders of magnitude.
    """
    weight = likelihood[room.overlap.astype(np.intp)]
    happens = weight > 0.0
    if not happens.any():
        raise ValueError("no worst case was found: the likelihoods are not those of an event")
    scale = np.where(happens, weight[happens].min() / np.where(happens, weight, 1.0), 1.0)  # y / (y R)
    caps = (room.caps - room.limits[:, None]) * scale
    caps /= np.maximum(np.abs(caps).max(axis=1, keepdims=True), np.finfo(float).tiny)
    once = happens[None, :].astype(np.float64)
    done = linprog(-room.holds * happens, A_ub=caps, b_ub=np.zeros(len(caps)), A_eq=once, b_eq=[1.0])
    if done.x is None or done.status != 0:
        raise ValueError("no worst case was found: the likelihoods are not those of an event")
    shares = np.maximum(done.x, 0.0) * scale
    shares = shares / shares.sum()
    supports, with_item = room.partial(shares)
    return float(with_item @ likelihood / (supports @ likelihood)), supports, with_item


def polytope(maxima: tuple[float, ...], length: int, size: int, *, inside: bool) -> Polytope:
    """Return the shares by (z in t, number of other items of A in t) that the maxima allow in sizes of m items."""
    others = length - 1 if inside else length
    support_maxima = _supports(maxima, others + 1, None)
    kinds = [(z, i) for z in (0, 1) for i in range(others + 1) if z + i <= size]
    rows, limits = [], []
    for with_z in (0, 1):
        for j in range(1 - with_z, others + 1):
            if with_z + j <= size:
                rows.append([(z >= with_z) * comb(i, j) / comb(others, j) for z, i in kinds])
                limits.append(support_maxima[with_z + j])
    z, i = np.array(kinds, dtype=np.float64).T
    return Polytope(np.array(rows), np.array(limits), z + i if inside else i, z, length)


def corners(maxima: tuple[float, ...], length: int, size: int, *, inside: bool) -> tuple[Floats, Floats]:
    """Return s_l and s+_l of all vertices of the polytope, each of shape (vertices, k + 1)."""
    return _listed(maxima, length, min(size, length + 1), inside)


@lru_cache(maxsize=256)
def _listed(maxima: tuple[float, ...], length: int, size: int, inside: bool) -> tuple[Floats, Floats]:
    room = polytope(maxima, length, size, inside=inside)
    unknown = len(room.overlap)
    bounds = np.vstack((room.caps, -np.eye(unknown)))
    limits = np.concatenate((room.limits, np.zeros(unknown)))
    tight = np.array(list(combinations(range(len(limits)), unknown - 1)), dtype=np.intp)
    total = np.ones((len(tight), 1, unknown))
    system = np.concatenate((total, bounds[tight]), axis=1)
    values = np.concatenate((np.ones((len(tight), 1)), limits[tight]), axis=1)
    regular = np.abs(np.linalg.det(system)) > 1e-10
    met = np.linalg.solve(system[regular], values[regular][..., None])[..., 0]
    shares = met[np.all(met @ bounds.T <= limits + SLACK, axis=1)]
    supports, with_item = room.partial(np.maximum(shares, 0.0))
    both: Floats = np.unique(np.round(np.hstack((supports, with_item)), 15), axis=0)
    return both[:, : length + 1], both[:, length + 1 :]


def _supports(maxima: Sequence[float], length: int, size: int | None) -> list[float]:
    """Return S_0..S_k: 1 first, the last given one for larger sizes, 0 above ``size``."""
    given = check_maxima(maxima)
    support_maxima = [1.0, *(given[min(i, len(given)) - 1] for i in range(1, length + 1))]
    return [0.0 if size is not None and i > size else s for i, s in enumerate(support_maxima)]
