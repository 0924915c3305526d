"""The spaces in which an intruder compares records: by standard deviations, by errors, by ranks.

``euclidean`` divides each attribute by the standard deviation of its original numbers. ``mahalanobis`` uses the
covariance of the errors: an intruder who knows the noise method knows it. ``rank`` compares the ranks on either side,
which no monotone change of the numbers disturbs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints

MAHALANOBIS = "mahalanobis"
_RIDGE = 1e-9
"""Of each variance: that much is added to those of the errors, since an exact attribute has none."""

_FARTHEST = 1e100
"""In standard deviations: squares and their sums are finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """``known`` (records, attributes) in full, ``released`` (rows, attributes) with NaN where hidden.

    ``truth`` says whose rows they are. A squared distance is the sum over the attributes that a
    released row shows, in the metric ``precision`` (attributes, attributes), and ``hidden`` (attributes,) for each of
    the others: what the own record has on average. ``points`` (records, attributes) are the known records as one sees
    them who is not among them, and ``others`` (others, attributes) people who are not. Each of the
    ``codes`` that differs adds 1.
    """

    known: Floats
    released: Floats
    truth: Truth
    covariance: Floats
    hidden: Floats
    points: Floats
    others: Floats
    codes: Codes

    def penalty(self, shown: npt.NDArray[np.bool_]) -> float:
        """Return what counts for the attributes that are hidden."""
        return float(self.hidden[~shown].sum())

    def precision(self, shown: npt.NDArray[np.bool_]) -> Floats:
        """Return the inverse of the covariance over the attributes that are shown."""
        places = np.flatnonzero(shown)
        covariance = self.covariance[np.ix_(places, places)]
        deviations = np.sqrt(np.diag(covariance))[:, np.newaxis]  # taken out, so that variances of any size can stand
        inverse = np.linalg.inv(covariance / deviations / deviations.T)
        return np.asarray(inverse / deviations / deviations.T)


def spaces(
    known: Floats,
    released: Floats,
    truth: Truth | None = None,
    others: Floats | None = None,
    codes: Codes | None = None,
) -> Mapping[str, Space]:
    """Return the spaces by name. ``known`` and ``released`` are (rows, attributes), NaN where there is no number.

    ``truth`` says which rows are whose: where it is left out, those of the same number. ``others``
    (others, attributes) are people who are not among the known ones. ``mahalanobis`` compares numbers alone, not
    ``codes``, and is not there where there are none.
    """
    whose = Truth.by_number(len(known)) if truth is None else truth
    outside = np.zeros((0, known.shape[1])) if others is None else others
    to_plain = _standardizing(known)
    plain, ranks = (to_plain(known), to_plain(released)), (_ranks(known, known), _ranks(released, released))
    one = np.eye(known.shape[1])
    no_codes = Codes.none(len(known), len(released), len(outside))
    shown = {"euclidean": (*plain, one), MAHALANOBIS: (*plain, _moments(whose.errors(*plain)))}
    shown["rank"] = (*ranks, one)
    alone = ranks[0] - 0.5 / np.maximum(1, (~np.isnan(known)).sum(axis=0))  # as those who are not counted stand
    points = {"rank": (alone, _ranks(outside, known))}
    spaces_by_name = {}
    for name, (k, r, c) in shown.items():
        numbers_alone = name == MAHALANOBIS
        if numbers_alone and not known.shape[1]:
            continue
        alone, elsewhere = points.get(name) or (k, to_plain(outside))
        some = no_codes if numbers_alone or codes is None else codes
        hidden = _mean_squares(whose.errors(k, r)) / np.diag(c)
        spaces_by_name[name] = Space(k, r, whose, c, hidden, alone, elsewhere, some)
    return spaces_by_name


def _standardizing(known: Floats) -> Callable[[Floats], Floats]:
    """Return what puts numbers in standard deviations of the known ones, from their mean: no offset takes digits.

    They are made small beforehand, so that no square overflows; numbers that are absurdly far are all as far.
    """
    size = np.nanmax(np.abs(known), axis=0, initial=0.0)
    exponent = np.frexp(size)[1]
    small = np.ldexp(known, -exponent)
    mean, deviation = np.nanmean(small, axis=0), np.nanstd(small, axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)

    def standardized(numbers: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((np.ldexp(numbers, -exponent) - mean) / deviation, -_FARTHEST, _FARTHEST))

    return standardized


def _moments(errors: Floats) -> Floats:
    """Return the second moments of the errors, of rows that have all numbers where there are enough; else variances."""
    complete_errors = errors[~np.isnan(errors).any(axis=1)]
    enough = len(complete_errors) > 2 * errors.shape[1]
    moments = complete_errors.T @ complete_errors / len(complete_errors) if enough else np.diag(_mean_squares(errors))
    return np.asarray(moments + np.diag(_RIDGE + 1e-6 * np.diag(moments)))


def _mean_squares(errors: Floats) -> Floats:
    known = (~np.isnan(errors)).sum(axis=0)
    return np.asarray(np.nansum(errors**2, axis=0) / np.maximum(known, 1))


def _ranks(numbers: Floats, among: Floats) -> Floats:
    """Return the middle rank of each number among those of a column, as a share of them; between two, that between."""
    ranks = np.full(numbers.shape, np.nan)
    for j in range(numbers.shape[1]):
        ordered = np.sort(among[~np.isnan(among[:, j]), j])
        known = ~np.isnan(numbers[:, j])
        first, last = (np.searchsorted(ordered, numbers[known, j], side=side) for side in ("left", "right"))
        ranks[known, j] = (first + last) / 2.0 / max(1, len(ordered))
    return ranks


_TOGETHER = 1 << 22
"""So many pairs of records and own rows are looked at together."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """``owner`` (rows,) is the number of the person of each released row, ``whose`` (records,) that of each record.

    -1 is nobody. ``row`` (records,) is one released row of the same person, -1 where there is none: these rows give the
    errors. A record is found where a row of its person is.
    """

    row: Ints
    owner: Ints
    whose: Ints

    @staticmethod
    def by_number(rows: int) -> Truth:
        """Return that each record has the row of its own number."""
        every = np.arange(rows)
        return Truth(every, every, every)

    @staticmethod
    def by_people(owner: Ints, whose: Ints) -> Truth:
        """Return that each record has the rows of its person, of which the first tells the errors."""
        people, first = np.unique(owner, return_index=True)
        place = np.minimum(np.searchsorted(people, whose), max(0, len(people) - 1))
        has = (whose >= 0) & (people[place] == whose) if len(people) else np.zeros(len(whose), np.bool_)
        return Truth(np.where(has, first[place] if len(people) else -1, -1), owner, whose)

    def of_people(self, person: Ints) -> Truth:
        """Return that rows and records are those of people: ``person`` (rows,) is the number of each row's."""
        return Truth(self.row, person, np.where(self.row >= 0, person[self.row], -1))

    def errors(self, known: Floats, released: Floats) -> Floats:
        """Return released numbers less known ones, (records that have a row, attributes)."""
        has = self.row >= 0
        return released[self.row[has]] - known[has]

    def own_rows(self, records: Ints) -> Iterator[tuple[slice, Ints, Ints]]:
        """Yield places among ``records``, some at a time, where the rows of each begin, and these rows.

        Each of the records has one. Rows of all records of a slice stand one after the other.
        """
        order = np.argsort(self.owner, kind="stable")
        ordered, whose = self.owner[order], self.whose[records]
        begins, ends = (np.searchsorted(ordered, whose, side=side) for side in ("left", "right"))
        sizes = ends - begins
        upto = np.cumsum(sizes)
        start = 0
        while start < len(records):
            done = int(upto[start] - sizes[start])
            stop = max(start + 1, int(np.searchsorted(upto, done + _TOGETHER, side="right")))
            some = sizes[start:stop]
            firsts = np.cumsum(some) - some
            steps = np.arange(int(some.sum())) - np.repeat(firsts, some)
            yield slice(start, stop), firsts, order[np.repeat(begins[start:stop], some) + steps]
            start = stop


def least_and_ties(squares: Floats, firsts: Ints, high: float, floor: float) -> tuple[Floats, Floats]:
    """Return the least of each group of ``squares``, and how many of it are up to ``high`` times that, and ``floor``.

    >>> least_and_ties(np.array([2.0, 1.0, 1.0, 5.0]), np.array([0, 3]), 1.0, 0.0)
    (array([1., 5.]), array([2., 1.]))
    """
    sizes = np.diff(firsts, append=len(squares))
    least = np.minimum.reduceat(squares, firsts)
    ties = np.add.reduceat(squares <= np.repeat(least * high + floor, sizes), firsts, dtype=np.int64)
    return least, ties.astype(np.float64)


HIDDEN = -1
"""The code of a released cell that shows nothing,"""
ELSEWHERE = -2
"""of a known category that no released row shows,"""
UNKNOWN = -3
"""and of one that the intruder does not know."""


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """``known`` (records, columns), ``released`` (rows, columns) and those of people who are in neither, ``others``.

    Each released column of a category is compared by itself. ``hidden`` (columns,) is what a hidden cell counts: the
    share of own rows that show another category.
    """

    known: Ints
    released: Ints
    others: Ints
    hidden: Floats

    @staticmethod
    def of(known: Ints, released: Ints, others: Ints, truth: Truth) -> Codes:
        """Return codes whose hidden cells count what the own rows have on average."""
        has = truth.row >= 0
        own, mine = released[truth.row[has]], known[has]
        shown = (own != HIDDEN) & (mine != UNKNOWN)
        return Codes(known, released, others, (shown & (own != mine)).sum(axis=0) / np.maximum(1, shown.sum(axis=0)))

    @staticmethod
    def none(records: int, rows: int, others: int) -> Codes:
        """Return no categories at all."""
        known, released, outside = (np.zeros((each, 0), np.int64) for each in (records, rows, others))
        return Codes(known, released, outside, np.zeros(0))

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.hidden)

    def apart(self, points: Ints, rows: Ints) -> Floats:
        """Return how many categories differ, for ``points`` and ``rows`` (…, columns), which are broadcast."""
        differences: Floats = np.zeros(np.broadcast_shapes(points.shape[:-1], rows.shape[:-1]))
        for j, hidden in enumerate(self.hidden):
            differ, unseen = points[..., j] != rows[..., j], rows[..., j] == HIDDEN
            differences += np.where(unseen, hidden, differ) if unseen.any() else differ
        return differences
