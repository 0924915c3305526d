"""Least squares by QR, and logistic regression by Newton's method, whose steps are weighted least squares.

Rows are taken a block at a time: the triangular factor of the rows so far and the next block have the same triangular
factor as all these rows (Golub, Van Loan, Matrix computations, 4th edition 2013, section 6.5). Normal equations, which
square the condition of the matrix, only bring a logistic regression near its estimates; these are found by QR.

statsmodels, against which both are tested, wants the whole matrix: of 200,000 rows and 26 terms its logistic regression
takes five times the memory and six times the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from ppdm_flow.mining.regression.design import BLOCK, Design, Floats, Integers, Term

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
    root = np.sqrt(weights)
    parts = (np.column_stack([block, response[rows]]) * root[rows, None] for rows, block in design.blocks())
    triangle = _triangle(parts, len(design.terms) + 1)
    values, inverse = _solved(triangle)
    residual = float(triangle[-1, -1]) ** 2 / freedom
    errors = np.sqrt(residual * np.einsum("ij,ij->i", inverse, inverse))
    return FittedTerms(design.terms, values, errors, freedom)


def logistic(design: Design, response: Floats, weights: Floats) -> FittedTerms:
    """Fit log(p / (1 - p)) = X b by maximum likelihood; the covariance is (X' W p (1 - p) X)^-1.

    ``response`` is 0 or 1, shape (rows,). A row counts ``weights`` times in the likelihood. Raises UnfittedError where
    one term is a sum of others, the response is the same everywhere, or terms separate it, so that no maximum exists.
    """
    if design.rows <= len(design.terms):
        raise UnfittedError("there are too few complete rows")
    if response.min() == response.max():
        raise UnfittedError("the response is the same in all complete rows")
    values, likelihood = _approached(design, response, weights), -np.inf
    step: Floats = np.zeros(len(values))
    for _ in range(_ROUNDS):
        triangle, reached = _newton(design, values, response, weights)
        for _ in range(_HALVINGS):
            if reached >= likelihood - 1e-9 * abs(reached):
                break
            step = step / 2
            values = values - step
            triangle, reached = _newton(design, values, response, weights)
        likelihood = reached
        target, inverse = _solved(triangle)
        step = target - values
        values = target
        errors = np.sqrt(np.einsum("ij,ij->i", inverse, inverse))
        if bool((np.abs(step) <= _CONVERGED * errors).all()):
            return _converged(design, values, errors, response)
    raise UnfittedError("the terms separate the response, so that no estimates exist")


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


def _converged(design: Design, values: Floats, errors: Floats, response: Floats) -> FittedTerms:
    """Return the estimates. Raises UnfittedError where the last step was small beside infinite errors only."""
    if bool((errors > 1e3 * np.maximum(1.0, np.abs(values))).any()) and any(
        bool((np.abs(_chances(block @ values) - response[rows]) < _CERTAIN).any()) for rows, block in design.blocks()
    ):
        raise UnfittedError("the terms separate the response, so that no estimates exist")
    return FittedTerms(design.terms, values, errors, None)


def _approached(design: Design, response: Floats, weights: Floats) -> Floats:
    """Return where to begin: near the estimates, or at 0 where the way there is not plain.

    Found by normal equations, from the estimates of at most 32,768 rows. What is lost by them is found again by QR.
    """
    nothing = np.zeros(len(design.terms))
    stride = -(-design.rows // BLOCK)
    if stride == 1:
        return nothing
    some = slice(None, None, stride)
    begun = _scored(design.every(stride), nothing, response[some], weights[some])
    estimates = _scored(design, nothing if begun is None else begun, response, weights)
    return nothing if estimates is None else estimates


def _scored(design: Design, values: Floats, response: Floats, weights: Floats) -> Floats | None:
    """Take Newton's steps by normal equations until they are small; None where one leads away."""
    likelihood = -np.inf
    for _ in range(_ROUNDS // 2):
        slope, reached = np.zeros(len(values)), 0.0
        curvature = np.zeros((len(values), len(values)))
        for rows, block in design.blocks():
            odds = block @ values
            chance = _chances(odds)
            reached += _likelihood(odds, response[rows], weights[rows])
            slope += block.T @ (weights[rows] * (response[rows] - chance))
            curvature += block.T @ (block * (weights[rows] * chance * (1.0 - chance))[:, None])
        scale = np.sqrt(np.diagonal(curvature))
        if reached < likelihood - 1e-9 * abs(reached) or not (scale > 0).all():
            return None
        likelihood = reached
        try:
            factor = linalg.cho_factor(curvature / np.outer(scale, scale))
        except linalg.LinAlgError:
            return None
        step = linalg.cho_solve(factor, slope / scale)  # in units of 1 / scale, at most a standard error each
        values = values + step / scale
        if bool((np.abs(step) <= _NEAR).all()):
            return values
    return None


def _newton(design: Design, values: Floats, response: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return the triangular factor of the next step, and the likelihood where it begins."""
    total = 0.0

    def parts() -> Iterable[Floats]:
        nonlocal total
        for rows, block in design.blocks():
            odds = block @ values
            chance = _chances(odds)
            total += _likelihood(odds, response[rows], weights[rows])
            curvature = np.maximum(chance * (1.0 - chance), 1e-300)
            working = odds + (response[rows] - chance) / curvature
            yield np.column_stack([block, working]) * np.sqrt(weights[rows] * curvature)[:, None]

    return _triangle(parts(), len(design.terms) + 1), total


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


def _solved(triangle: Floats) -> tuple[Floats, Floats]:
    """Return the estimates, shape (terms,), and the inverse of the factor, shape (terms, terms)."""
    factor, right = triangle[:-1, :-1], triangle[:-1, -1]
    lengths = np.linalg.norm(factor, axis=0)
    if not np.isfinite(factor).all() or bool((np.abs(np.diag(factor)) <= _SINGULAR * lengths).any()):
        raise UnfittedError("a term is a sum of others, or occurs in no row that tells anything")
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
