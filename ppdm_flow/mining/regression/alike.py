"""How alike two sets of estimates are: the overlap of their intervals, and their distance in standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.regression.design import Floats, Integers, Term
from ppdm_flow.mining.regression.fit import FittedTerms


def overlaps(first: FittedTerms, second: FittedTerms) -> Floats:
    """Return the interval overlap of each term, in [0, 1], shape (terms,).

    The length of the intersection as a share of either interval, on average over the two (Karr, Kohnen, Oganian,
    Reiter, Sanil, The American Statistician 60(3), 2006). Of an interval of no length the share is 1 where it lies
    within the other, else 0.
    """
    low, high = np.maximum(first.low, second.low), np.minimum(first.high, second.high)
    common, meet = np.maximum(0.0, high - low), high >= low
    shares = []
    for each in (first, second):
        length = each.high - each.low
        share = np.divide(common, length, out=meet.astype(np.float64), where=length > 0)
        shares.append(np.minimum(1.0, share))
    mean: Floats = (shares[0] + shares[1]) / 2
    return mean


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Two sets of estimates beside each other, by the terms of the first.

    ``place`` is where the second has each term, -1 where it has it not; ``overlap`` is 0 and ``difference`` infinite
    there. ``difference`` is |b' - b| in standard errors of the first. ``agrees`` is 1 where both are significant at 5 %
    with the same sign, or neither is.
    """

    terms: tuple[Term, ...]
    place: Integers
    overlap: Floats
    difference: Floats
    agrees: Floats

    @property
    def lost(self) -> int:
        """How many terms the second has not."""
        return int((self.place < 0).sum())

    @property
    def worst(self) -> int:
        """The place of the term that loses most: of the least overlap, then of the largest difference."""
        return int(np.lexsort((-self.difference, self.overlap))[0])


def likeness(first: FittedTerms, second: FittedTerms) -> Likeness:
    """Compare the terms of ``first`` with those of ``second``."""
    where = {term: i for i, term in enumerate(second.terms)}
    place = np.array([where.get(term, -1) for term in first.terms], dtype=np.int64)
    there = place >= 0
    overlap, difference = np.zeros(len(place)), np.full(len(place), np.inf)
    agrees = np.zeros(len(place))
    mine, theirs = _picked(first, np.flatnonzero(there)), _picked(second, place[there])
    overlap[there] = overlaps(mine, theirs)
    apart = np.abs(theirs.values - mine.values)
    exact = np.where(apart > 0, np.inf, 0.0)
    difference[there] = np.divide(apart, mine.errors, out=exact, where=mine.errors > 0)
    agrees[there] = mine.conclusion == theirs.conclusion
    return Likeness(first.terms, place, overlap, difference, agrees)


def _picked(estimates: FittedTerms, places: Integers) -> FittedTerms:
    freedom = estimates.freedom
    if isinstance(freedom, np.ndarray):
        freedom = freedom[places]
    terms = tuple(estimates.terms[i] for i in places.tolist())
    return FittedTerms(terms, estimates.values[places], estimates.errors[places], freedom)
