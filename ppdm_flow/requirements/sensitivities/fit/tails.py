"""Probabilities of deviations: exact for single counts, bounds for sums, chi-square for many cells at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.stats import binom

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

ENOUGH = 20.0
"""Expected rows from which the cells of a uniform multinomial may enter a chi-square statistic."""
ENOUGH_VARIANCE = 100.0
"""Variance from which other counts may: skewed ones need more to be near normal so far out."""


def binomial(hits: Counts, trials: Counts, probability: Floats | float) -> Floats:
    """Return two-sided exact tail probabilities: twice the smaller tail, at most 1."""
    lower = binom.cdf(hits, trials, probability)
    upper = binom.sf(hits - 1, trials, probability)
    doubled: Floats = np.minimum(1.0, 2.0 * np.minimum(lower, upper))
    return doubled


def bennett(deviation: Floats | float, variance: Floats | float) -> Floats:
    """Return bounds of two-sided tails of sums of independent terms that deviate by at most 1 (Bennett 1962).

    2 exp(-v h(t/v)) with h(u) = (1 + u) ln(1 + u) - u: valid for any number of terms, however unlike.
    """
    t, v = np.broadcast_arrays(np.abs(np.asarray(deviation, dtype=np.float64)), np.asarray(variance, dtype=np.float64))
    safe = np.maximum(v, 1e-300)
    ratio = t / safe
    bound = 2.0 * np.exp(-safe * ((1.0 + ratio) * np.log1p(ratio) - ratio))
    fixed = np.where(t > 1e-6, 0.0, 1.0)  # nothing random: any deviation is impossible
    return np.minimum(1.0, np.where(v > 1e-9, bound, fixed))


def chi_square(statistic: float, freedom: int) -> float:
    """Return the upper tail; 1 without degrees of freedom."""
    return float(special.chdtrc(freedom, statistic)) if freedom > 0 else 1.0


def fisher(probabilities: Floats) -> float:
    """Return the joint tail of independent tests: -2 times the sum of logs is chi-square (Fisher 1925).

    Tail probabilities of discrete counts are a little too large; then so is this one.
    """
    if len(probabilities) == 0:
        return 1.0
    if probabilities.min() <= 0.0:
        return 0.0
    return chi_square(-2.0 * float(np.log(probabilities).sum()), 2 * len(probabilities))


def smallest(probabilities: Floats, tests: int | None = None) -> float:
    """Return Bonferroni's probability for the smallest of several tests (``tests`` of them, if not all are given)."""
    if len(probabilities) == 0:
        return 1.0
    return float(min(1.0, probabilities.min() * (len(probabilities) if tests is None else tests)))
