"""Propensities: how well a model tells released rows from original ones, and how well it would by chance.

Woo, Reiter, Oganian, Karr, "Global measures of data utility for microdata masked for disclosure limitation", Journal of
Privacy and Confidentiality 1(1), 2009 (pMSE); Snoke, Raab, Nowok, Dibben, Slavkovic, "General and specific utility
measures for synthetic data", JRSS A 181(3), 2018 (its expectation, the ratio and the standardized pMSE).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

from ppdm_flow.mining.utility.coding import CodedColumn
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.numeric.column import NumericColumn

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

STEPS_OF_NUMBERS = 64
_STEPS = 30
_RIDGE = 1e-9
"""Keeps the solution finite where some rows can be told without error."""
_KEY = 1729


@dataclass(frozen=True, slots=True)
class Propensity:
    """``pmse`` beside what chance gives: its ``expected`` value and standard ``deviation``."""

    pmse: float
    expected: float
    deviation: float

    @property
    def ratio(self) -> float | None:
        """How many times as large as by chance; None where chance gives 0."""
        return self.pmse / self.expected if self.expected > 0 else None

    @property
    def standardized(self) -> float | None:
        """How many standard deviations above the expectation; None where chance does not vary."""
        return (self.pmse - self.expected) / self.deviation if self.deviation > 0 else None


def block(column: CodedColumn, most_values: int) -> Floats:
    """Return a column as features of original and released rows, shape (rows before + rows after, features).

    Numbers are scaled to mean 0 and standard deviation 1, with a second feature where cells are missing. Of other
    columns each value has a feature, but for the most frequent one; those that are not among the ``most_values`` most
    frequent share one. Constant features are left out.
    """
    mine, theirs = column.before, column.after
    if isinstance(mine, NumericColumn) and isinstance(theirs, NumericColumn):
        numbers = np.concatenate([mine.floats(), theirs.floats()])
        missing = np.isnan(numbers)
        known = numbers[~missing]
        scaled = np.where(missing, 0.0, (numbers - (known.mean() if len(known) else 0.0)) / (_spread(known) or 1.0))
        features = np.stack([scaled, missing.astype(np.float64)], axis=1)
    else:
        codes = np.concatenate([mine.dense, theirs.dense])
        counts = np.bincount(codes, minlength=len(mine.categories) + SPECIALS)
        order = np.argsort(-counts, kind="stable")
        place = np.full(len(counts), most_values, dtype=np.int64)
        place[order[:most_values]] = np.arange(min(most_values, len(counts)))
        features = np.eye(most_values + 1)[place[codes]][:, 1:]
    return features[:, features.max(axis=0, initial=0.0) > features.min(axis=0, initial=0.0)]


def _spread(numbers: Floats) -> float:
    return float(numbers.std()) if len(numbers) else 0.0


def products(blocks: Sequence[tuple[Floats, bool]], most: int) -> list[Floats]:
    """Return features of two columns multiplied, ``most`` of all: squares of numbers first, then pairs in order.

    ``blocks`` are features, and whether they are of numbers. A pair with more features than are left is passed over.
    """
    made: list[Floats] = []
    pairs = [(i, i) for i, (_, numeric) in enumerate(blocks) if numeric]
    pairs += [(i, j) for i in range(len(blocks)) for j in range(i + 1, len(blocks))]
    for i, j in pairs:
        left, right = blocks[i][0], blocks[j][0]
        size = left.shape[1] * right.shape[1]
        if 0 < size <= most:
            made.append((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))
            most -= size
    return made


def by_logistic(features: Floats, released: Truths) -> Propensity:
    """Return the pMSE of a logistic regression with an intercept.

    For k independent coefficients, N rows and a share c of released ones, the expectation is (k - 1)(1 - c)^2 c / N and
    the standard deviation sqrt(2 (k - 1)) (1 - c)^2 c / N, if the release was drawn from a model fitted to the original
    (Snoke et al. 2018, section 3.1). Two samples of one population, drawn apart, have 1 / (1 - c) times as much.
    """
    rows, share = len(released), float(released.mean())
    base = _independent(np.hstack([np.ones((rows, 1)), features]))
    fitted = fitted_probabilities(base, released)
    chance = (1 - share) ** 2 * share / rows
    others = base.shape[1] - 1
    return Propensity(float(((fitted - share) ** 2).mean()), others * chance, float(np.sqrt(2 * others)) * chance)


def _independent(features: Floats) -> Floats:
    """Return orthonormal columns that span what ``features`` do."""
    base, small = np.linalg.qr(features)
    rotation, triangle, _ = linalg.qr(small, mode="economic", pivoting=True)  # fast on the small factor
    size = np.abs(np.diagonal(triangle))
    independent: Floats = base @ rotation[:, : int((size > 1e-9 * size.max(initial=0.0)).sum())]
    return independent


def in_steps(features: Floats, steps: int = STEPS_OF_NUMBERS) -> npt.NDArray[np.float32]:
    """Return features with more than ``steps`` distinct numbers as the rank of the interval they are in, of so many.

    The intervals have about equal numbers of rows. A tree that looks for its cuts among these is several times faster.
    """
    coarse = np.empty(features.shape, dtype=np.float32)
    for i, numbers in enumerate(features.T):
        coarse[:, i] = numbers
        ordered = np.sort(numbers)
        if int((np.diff(ordered) > 0).sum()) >= steps:
            edges = np.unique(ordered[np.arange(1, steps) * len(ordered) // steps])
            coarse[:, i] = np.searchsorted(edges, numbers, side="left")
    return coarse


def fitted_probabilities(features: Floats, released: Truths) -> Floats:
    """Return the probability of each row to be a released one, by maximum likelihood (Newton's method)."""
    wanted = released.astype(np.float64)
    scale = np.sqrt(len(wanted))
    base = features * scale
    weights: Floats = np.zeros(base.shape[1])
    best = -np.inf
    step: Floats = np.zeros(base.shape[1])
    for _ in range(_STEPS):
        score = base @ weights
        likelihood = float((wanted * score - np.logaddexp(0.0, score)).sum())
        if likelihood < best - 1e-12 * abs(best):
            step = step / 2
            weights = weights - step
            continue
        if likelihood - best <= 1e-12 * abs(likelihood):
            break
        best = likelihood
        chance = special.expit(score)
        curvature = (base * (chance * (1 - chance))[:, None]).T @ base
        step = linalg.solve(curvature + _RIDGE * len(wanted) * np.eye(len(weights)), base.T @ (wanted - chance))
        weights = weights + step
    fitted: Floats = special.expit(base @ weights)
    return fitted


def by_permutation(released: Truths, predict: Callable[[Truths], Floats], times: int) -> Propensity:
    """Return the pMSE of any model beside its mean and deviation where the origin of rows is exchanged at random.

    ``predict`` learns from labels (rows,) and returns the probabilities of the rows. Which exchanges are made is fixed.
    """
    share = float(released.mean())
    draws = np.random.default_rng(_KEY)
    chance = [float(((predict(draws.permutation(released)) - share) ** 2).mean()) for _ in range(times)]
    pmse = float(((predict(released) - share) ** 2).mean())
    return Propensity(pmse, float(np.mean(chance)), float(np.std(chance, ddof=1)))
