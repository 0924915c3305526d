"""Least squares by QR, and logistic regression by Newton's method, whose steps are weighted least squares.

The terms of the categorical with most categories are never columns: all others are taken from their weighted means in
each of its groups, and fitted alone (Frisch and Waugh, Econometrica 1(4), 1933; Lovell, JASA 58, 1963). What such a
categorical costs grows as the rows, and not as the square of its categories.

Rows are taken a block at a time: the triangular factor of the rows so far and the next block have the same triangular
factor as all these rows (Golub, Van Loan, Matrix computations, 4th edition 2013, section 6.5). Normal equations, which
square the condition of the matrix, only bring a logistic regression near its estimates; these are found by QR.

statsmodels, against which both are tested, wants the whole matrix: of 200,000 rows and 26 terms its logistic regression
takes five times the memory and six times the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse, special

from ppdm_flow.mining.regression.design import Design, Floats, Integers, Term

_ROUNDS = 40
_HALVINGS = 12
_CONVERGED = 1e-10
"""The share of its standard error that the last step of an estimate may be; what remains is about its square."""
_NEAR = 1e-5
_SINGULAR = 1e-11
"""A column whose part beyond the columns before it is so small a share of its length is one of their sums."""
_CERTAIN = 1e-9
"""A fitted probability as near to 0 or 1 is a sign of categories that separate the response."""
LEVEL = 0.95
_SUM = "a term is a sum of others, or occurs in no row that tells anything"
_SEPARATED = "the terms separate the response, so that no estimates exist"


class UnfittedError(Exception):
    """A model that has no estimates; its text says why, and quotes nothing of the data."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedTerms:
    """``values`` and standard ``errors`` of ``terms``, shape (terms,); ``freedom`` is None for a normal distribution.

    ``freedom`` is one number for all terms, or has one for each.
    """

    terms: tuple[Term, ...]
    values: Floats
    errors: Floats
    freedom: Floats | float | None

    @property
    def quantile(self) -> Floats:
        """How many standard errors the interval of each term reaches to either side, shape (terms,)."""
        upper = 1.0 - (1.0 - LEVEL) / 2
        reach = special.ndtri(upper) if self.freedom is None else special.stdtrit(self.freedom, upper)
        return np.broadcast_to(np.asarray(reach, dtype=np.float64), self.values.shape)

    @property
    def low(self) -> Floats:
        """The lower ends of the 95 % intervals, shape (terms,)."""
        return self.values - self.quantile * self.errors

    @property
    def high(self) -> Floats:
        """The upper ends of the 95 % intervals, shape (terms,)."""
        return self.values + self.quantile * self.errors

    @property
    def conclusion(self) -> Floats:
        """What a test at 5 % says of each term, shape (terms,): -1 below zero, 1 above, 0 neither."""
        return np.where(self.low > 0, 1.0, np.where(self.high < 0, -1.0, 0.0))


def linear(design: Design, response: Floats, weights: Floats, people: float) -> FittedTerms:
    """Fit weighted least squares; the covariance is s^2 (X'WX)^-1, s^2 = sum(w e^2) / (people - terms).

    Parameters
    ----------
    design
        The rows and terms.
    response, weights
        One number a row, shape (rows,); weights are positive.
    people
        How many rows there are, a row with a count as many times as it says.

    Raises
    ------
    UnfittedError
        Where there are too few rows, or one term is a sum of others.
    """
    freedom = people - len(design.terms)
    if freedom <= 0:
        raise UnfittedError("there are too few complete rows")
    fitted = _least_squares(design, response, weights, _triangle)
    return FittedTerms(design.terms, fitted.values, np.sqrt(fitted.squares / freedom * fitted.variances), freedom)


def logistic(design: Design, response: Floats, weights: Floats) -> FittedTerms:
    """Fit log(p / (1 - p)) = X b by maximum likelihood; the covariance is (X' W p (1 - p) X)^-1.

    ``response`` is 0 or 1, shape (rows,). A row counts ``weights`` times in the likelihood. Raises UnfittedError where
    one term is a sum of others, the response is the same everywhere, or terms separate it, so that no maximum exists.
    """
    if design.rows <= len(design.terms):
        raise UnfittedError("there are too few complete rows")
    if response.min() == response.max():
        raise UnfittedError("the response is the same in all complete rows")
    start: Floats = np.zeros(len(design.terms))
    with suppress(UnfittedError):  # from 0 the way by QR is longer
        start = _climb(design, start, response, weights, _factor, _NEAR).values
    return _converged(design, _climb(design, start, response, weights, _triangle, _CONVERGED), response)


def group_means(name: str, groups: Integers, size: int, values: Floats, weights: Floats, counts: Floats) -> FittedTerms:
    """Return the weighted mean of each group that has two rows or more.

    m = sum(w x) / sum(w), se^2 = sum(w (x - m)^2) / ((n - 1) sum(w)), which is s^2 / n without weights.

    Parameters
    ----------
    name
        What terms are called; each has the number of its group.
    groups
        The group of each row, 0 to ``size`` - 1, shape (rows,).
    values, weights, counts
        The number, the weight and the number of rows that a row counts, shape (rows,).
    """
    rows = np.bincount(groups, counts, size)
    weight = np.bincount(groups, weights, size)
    kept = np.flatnonzero((rows > 1) & (weight > 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.bincount(groups, weights * values, size) / weight
    apart = values - means[groups]
    squares = np.bincount(groups, weights * apart * apart, size)[kept]
    errors = np.sqrt(squares / ((rows[kept] - 1) * weight[kept]))
    return FittedTerms(tuple((name, int(g)) for g in kept), means[kept], errors, (rows[kept] - 1).astype(np.float64))


def _converged(design: Design, fitted: _Fit, response: Floats) -> FittedTerms:
    """Return the estimates. Raises UnfittedError where the last step was small beside infinite errors only."""
    errors = np.sqrt(fitted.variances)
    if bool((errors > 1e3 * np.maximum(1.0, np.abs(fitted.values))).any()):
        chances = _chances(design.predict(fitted.values))
        if bool((np.abs(chances - response) < _CERTAIN).any()):
            raise UnfittedError(_SEPARATED)
    return FittedTerms(design.terms, fitted.values, errors, None)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """``values`` and diagonal of (X'WX)^-1, both shape (terms,), and the weighted sum of squares that is left."""

    values: Floats
    variances: Floats
    squares: float


Factor = Callable[[Iterable[Floats], int], Floats]
"""Makes the triangular factor of the rows of all parts, of a width."""


def _climb(design: Design, values: Floats, response: Floats, weights: Floats, factor: Factor, near: float) -> _Fit:
    """Take Newton's steps until each is ``near``, as a share of the standard error. Steps that lead down are halved."""
    likelihood = -np.inf
    step: Floats = np.zeros(len(values))
    for _ in range(_ROUNDS):
        fitted, reached = _newton(design, values, response, weights, factor)
        for _ in range(_HALVINGS):
            if reached >= likelihood - 1e-9 * abs(reached):
                break
            step = step / 2
            values = values - step
            fitted, reached = _newton(design, values, response, weights, factor)
        likelihood = reached
        step = fitted.values - values
        values = fitted.values
        if bool((np.abs(step) <= near * np.sqrt(fitted.variances)).all()):
            return fitted
    raise UnfittedError(_SEPARATED)


def _newton(design: Design, values: Floats, response: Floats, weights: Floats, factor: Factor) -> tuple[_Fit, float]:
    """Return the fit at the end of the next step, and the likelihood where it begins."""
    odds = design.predict(values)
    chance = _chances(odds)
    curvature = np.maximum(chance * (1.0 - chance), 1e-300)
    working = odds + (response - chance) / curvature
    return _least_squares(design, working, weights * curvature, factor), _likelihood(odds, response, weights)


def _least_squares(design: Design, response: Floats, weights: Floats, factor: Factor) -> _Fit:
    """Fit the other terms and the response, taken from their means in each group; then the groups, from their means."""
    groups, size = design.groups, len(design.group_terms) + 1
    totals = np.bincount(groups, weights, size)
    if not bool((totals > 0).all()):
        raise UnfittedError(_SUM)
    sums, lengths = np.zeros((size, len(design.other_terms) + 1)), np.zeros(len(design.other_terms))
    sums[:, -1] = np.bincount(groups, weights * response, size)
    for rows, block in design.blocks():
        members = groups[rows], np.arange(len(block))
        sums[:, :-1] += np.asarray(sparse.csr_array((weights[rows], members), shape=(size, len(block))) @ block)
        lengths += weights[rows] @ (block * block)
    means = sums / totals[:, None]
    parts = (
        (np.column_stack([block, response[rows]]) - means[groups[rows]]) * np.sqrt(weights[rows])[:, None]
        for rows, block in design.blocks()
    )
    triangle = factor(parts, len(lengths) + 1)
    others, inverse = _solved(triangle, np.sqrt(lengths))
    reach = means[:, :-1] @ inverse
    effects = means[:, -1] - means[:, :-1] @ others
    values, variances = np.empty(len(design.terms)), np.empty(len(design.terms))
    values[0], variances[0] = effects[0], 1.0 / totals[0] + reach[0] @ reach[0]
    apart = reach[1:] - reach[0]
    values[design.group_terms] = effects[1:] - effects[0]
    variances[design.group_terms] = 1.0 / totals[1:] + 1.0 / totals[0] + np.einsum("ij,ij->i", apart, apart)
    values[design.other_terms] = others
    variances[design.other_terms] = np.einsum("ij,ij->i", inverse, inverse)
    return _Fit(values, variances, float(triangle[-1, -1]) ** 2)


def _likelihood(odds: Floats, response: Floats, weights: Floats) -> float:
    """Return the logarithm of the likelihood of some rows."""
    terms = response * odds - np.maximum(odds, 0.0) - np.log1p(np.exp(-np.abs(odds)))
    return float(weights @ terms)


def _chances(odds: Floats) -> Floats:
    half: Floats = np.tanh(odds / 2)
    return 0.5 * (1.0 + half)


def _triangle(parts: Iterable[Floats], width: int) -> Floats:
    """Return the triangular factor of the rows of all parts, shape (width, width)."""
    triangle: Floats = np.zeros((width, width))
    for part in parts:
        factor = linalg.qr(np.vstack([triangle, part]), mode="r", overwrite_a=True)[0]
        triangle = np.asarray(factor, dtype=np.float64)[:width]
    return triangle


def _factor(parts: Iterable[Floats], width: int) -> Floats:
    """Return the triangular factor by normal equations. Raises UnfittedError where they are too near to singular."""
    squares: Floats = np.zeros((width, width))
    for part in parts:
        squares += part.T @ part
    scale = np.sqrt(np.diagonal(squares))
    if not bool((scale > 0).all()):
        raise UnfittedError(_SUM)
    try:
        return np.asarray(linalg.cholesky(squares / np.outer(scale, scale)) * scale)
    except (linalg.LinAlgError, ValueError):
        raise UnfittedError(_SUM) from None


def _solved(triangle: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """Return the estimates, shape (terms,), and the inverse of the factor, shape (terms, terms).

    ``lengths`` are those of the columns before anything was taken from them.
    """
    factor, right = triangle[:-1, :-1], triangle[:-1, -1]
    if not np.isfinite(factor).all() or bool((np.abs(np.diag(factor)) <= _SINGULAR * lengths).any()):
        raise UnfittedError(_SUM)
    inverse = linalg.solve_triangular(factor, np.eye(len(factor)))
    return np.asarray(linalg.solve_triangular(factor, right)), np.asarray(inverse)


# How alike two sets of estimates are: the overlap of their intervals, and their distance in standard errors.


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
