"""Where a record's own released row is among the nearest ones, by trees; ties share a place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.codes import Codes
from ppdm_flow.requirements.numeric_linkage.spaces import Space
from ppdm_flow.requirements.numeric_linkage.truth import least_and_ties

Bools = npt.NDArray[np.bool_]
SLACK = 1e-9
"""Relative: squared distances that are nearer to each other are ties."""
FLOOR = 1e-12
"""And so much, whatever they are."""
_DISTANCES = 1 << 22
"""So many are asked for together."""


@dataclass(frozen=True, slots=True, eq=False)
class NearerCounts:
    """How many released rows are nearer to each record than its own one, and how many up to as near, the own included.

    ``nearer``, ``upto`` and ``own`` are (records,): of those at the least distance ``own`` are of the record's person.
    All are exact where fewer rows are nearer than were asked for.
    """

    nearer: Floats
    upto: Floats
    own: Floats

    def chances(self, candidates: int) -> Floats:
        """Return the chance that an own row is among so many candidates; those at one distance share the places."""
        return shared(self.nearer, self.upto, self.own, candidates)

    def hits(self, candidates: int) -> Floats:
        """Return the sum of these chances for 1, 2, … ``candidates``."""
        one = self.own <= 1
        nearer, upto = (np.minimum(end[one], candidates).astype(np.int64) for end in (self.nearer, self.upto))
        share = 1.0 / np.maximum(self.upto - self.nearer, 1.0)[one]  # from one end to the other each is a line
        begins, stops = (np.bincount(end, share, candidates + 1)[:candidates] for end in (nearer, upto))
        found = np.cumsum(np.cumsum(begins - stops, dtype=np.float64))
        if not one.all():
            several = NearerCounts(self.nearer[~one], self.upto[~one], self.own[~one])
            found += [several.chances(c).sum() for c in range(1, candidates + 1)]
        return np.asarray(found)


def places(space: Space, sample: Ints, candidates: int) -> NearerCounts:
    """Return the place of the own row of each record of ``sample``, as far as so many candidates need it."""
    from scipy.spatial import cKDTree  # noqa: PLC0415  # slow to import, and for this alone

    own, ties = own_squares(space, sample)
    low, high = own * (1 - SLACK) - FLOOR, own * (1 + SLACK) + FLOOR
    if space.codes.width:
        return NearerCounts(*_counted(space, sample, low, high), ties)
    nearer, upto = np.zeros(len(sample)), np.zeros(len(sample))
    groups = []
    for shown, members in patterns(space):
        metric = np.linalg.cholesky(space.precision(shown))
        metric = metric if shown.any() else np.zeros((0, 1))  # where all is hidden, all rows are one point
        points = space.known[np.ix_(sample, shown)] @ metric
        groups.append((cKDTree(space.released[np.ix_(members, shown)] @ metric), points, space.penalty(shown)))
    size = max(1, _DISTANCES // candidates)
    for tree, points, penalty in groups:  # more than the candidates need not be counted
        for start in range(0, len(sample), size):
            block = slice(start, start + size)
            nearest = tree.query(points[block], k=np.arange(1, min(tree.n, candidates) + 1))[0]
            nearer[block] += (nearest**2 + penalty < low[block, np.newaxis]).sum(axis=1)
    open_ = np.flatnonzero(nearer < candidates)
    for tree, points, penalty in groups:
        left = high[open_] - penalty
        some = open_[left >= 0]
        if len(some):
            upto[some] += tree.query_ball_point(points[some], np.sqrt(high[some] - penalty), return_length=True)
    return NearerCounts(nearer, np.maximum(upto, nearer + ties), ties)


def _counted(space: Space, sample: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return how many rows are nearer than ``low``, and up to ``high``, by every distance."""
    nearer, upto = np.zeros(len(sample)), np.zeros(len(sample))
    for block, _, squares in every_distance(space, space.known[sample], space.codes.known[sample]):
        nearer[block] += (squares < low[block, np.newaxis]).sum(axis=1)
        upto[block] += (squares <= high[block, np.newaxis]).sum(axis=1)
    return nearer, upto


def every_distance(space: Space, points: Floats, codes: Ints) -> Iterator[tuple[slice, Ints, Floats]]:
    """Yield some of the points, some released rows, and their squared distances, (points, rows)."""
    for shown, members in patterns(space):
        whole = metric_of(space, np.flatnonzero(shown))
        rows, seen = space.released[np.ix_(members, shown)] @ whole, points[:, shown] @ whole
        size = max(1, _DISTANCES // len(members))
        for start in range(0, len(points), size):
            block = slice(start, start + size)
            differ = space.codes.apart(codes[block, np.newaxis], space.codes.released[members])
            yield block, members, _squares(seen[block], rows) + space.penalty(shown) + differ


def _squares(points: Floats, rows: Floats) -> Floats:
    from scipy.spatial.distance import cdist  # noqa: PLC0415  # slow to import, and for this alone

    return np.asarray(cdist(points, rows, "sqeuclidean")) if rows.shape[1] else np.zeros((len(points), len(rows)))


def shared(nearer: Floats, upto: Floats, own: Floats, candidates: int) -> Floats:
    """Return the chance that a row of ``own`` ones is a candidate, which are at one distance with upto - nearer rows.

    >>> shared(np.array([0.0, 0.0, 1.0, 0.0]), np.array([1.0, 4.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0, 3.0]), 1)
    array([1.  , 0.25, 0.  , 0.75])
    """
    from scipy.special import gammaln  # noqa: PLC0415  # slow to import

    ties = np.maximum(upto - nearer, 1.0)
    left = np.clip(candidates - nearer, 0.0, ties)
    found = left / ties
    several = own > 1
    if several.any():
        ties, left, others = ties[several], left[several], (ties - own)[several]
        none = gammaln(others + 1) - gammaln(ties + 1) + gammaln(ties - left + 1)
        none -= gammaln(np.maximum(others - left, 0.0) + 1)
        found[several] = np.where(left > others, 1.0, -np.expm1(np.minimum(none, 0.0)))
    return found


def metric_of(space: Space, places: Ints) -> Floats:
    """Return what makes distances in these attributes plain, (attributes, attributes)."""
    shown = np.isin(np.arange(space.known.shape[1]), places)
    return np.asarray(np.linalg.cholesky(space.precision(shown)), dtype=np.float64)


def nearest_squares(points: Floats, rows: Floats, owner: Ints, but: Ints, codes: Codes, code_of: Ints) -> Floats:
    """Return the squared distance of each point to the nearest of ``rows`` whose ``owner`` is not ``but`` (points,)."""
    from scipy.spatial import cKDTree  # noqa: PLC0415  # slow to import, and for this alone

    if codes.width or not rows.shape[1]:
        return _least(points, rows, owner, but, codes, code_of)
    tree, owners, found = cKDTree(rows), np.append(owner, -2), np.full(len(points), np.inf)
    left, size = np.arange(len(points)), 2
    while len(left):
        apart, which = (np.asarray(each) for each in tree.query(points[left], k=np.arange(1, min(size, len(rows)) + 1)))
        others = owners[which] != but[left, np.newaxis]
        done = others.any(axis=1)
        found[left[done]] = apart[done, np.argmax(others[done], axis=1)] ** 2
        left = left[~done] if size < len(rows) else left[:0]
        size *= 4
    return found


def _least(points: Floats, rows: Floats, owner: Ints, but: Ints, codes: Codes, code_of: Ints) -> Floats:
    found = np.empty(len(points))
    size = max(1, _DISTANCES // max(1, len(rows)))
    for start in range(0, len(points), size):
        block = slice(start, min(start + size, len(points)))
        squares = _squares(points[block], rows) + codes.apart(code_of[block, np.newaxis], codes.released)
        squares[owner == but[block, np.newaxis]] = np.inf
        found[block] = squares.min(axis=1, initial=np.inf)
    return found


def own_squares(space: Space, records: Ints) -> tuple[Floats, Floats]:
    """Return how far each record is from the nearest row of its person, and how many of these rows are as near."""
    least, ties = np.zeros(len(records)), np.zeros(len(records))
    for some, firsts, rows in space.truth.own_rows(records):
        of_rows = np.repeat(records[some], np.diff(firsts, append=len(rows)))
        squares = squared_distances(space, of_rows, rows)
        least[some], ties[some] = least_and_ties(squares, firsts, 1 + SLACK, FLOOR)
    return least, ties


def squared_distances(space: Space, records: Ints, rows: Ints) -> Floats:
    """Return how far each of these records is from the row beside it."""
    found = np.zeros(len(rows))
    for shown, members in patterns(space):
        here = np.isin(rows, members)
        if shown.any():
            apart = (space.released[rows[here]] - space.known[records[here]])[:, shown]
            found[here] = ((apart @ np.linalg.cholesky(space.precision(shown))) ** 2).sum(axis=1)
        found[here] += space.penalty(shown)
    return found + space.codes.apart(space.codes.known[records], space.codes.released[rows])


def patterns(space: Space) -> list[tuple[Bools, Ints]]:
    """Return the released rows by which attributes they show."""
    different, places = np.unique(~np.isnan(space.released), axis=0, return_inverse=True)
    places = places.reshape(-1)
    return [(pattern, np.flatnonzero(places == i)) for i, pattern in enumerate(different)]
