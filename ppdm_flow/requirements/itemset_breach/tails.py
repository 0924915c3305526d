"""Probabilities of counts as unlikely as those observed, all of them bounds that hold for any number of rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr
from scipy.stats import binom

Floats = npt.NDArray[np.float64]

PLAIN = 4.0
"""Standard deviations within which a count with enough variance is not looked at closely: its tail is above 1e-5."""
ENOUGH = 25.0


def binomial(hits: npt.ArrayLike, trials: npt.ArrayLike, chance: npt.ArrayLike) -> Floats:
    """Return twice the smaller tail of Binomial(trials, chance) at ``hits``, at most 1, elementwise.

    1 without a closer look where the count is within four standard deviations: a bound from above all the same.
    """
    x, n, p = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (hits, trials, chance)))
    p_values = np.ones(x.shape)
    variance = n * p * (1.0 - p)
    close = (variance < ENOUGH) | (np.abs(x - n * p) > PLAIN * np.sqrt(variance))
    x, n, p = x[close], n[close], p[close]
    tails = 2.0 * np.minimum(binom.cdf(x, n, p), binom.sf(x - 1.0, n, p))
    p_values[close] = np.minimum(np.where(n > 0, tails, 1.0), 1.0)
    return p_values


def summed(deviation: npt.ArrayLike, variance: npt.ArrayLike, largest: npt.ArrayLike) -> Floats:
    """Return Bernstein's bound on both tails of a sum of independent terms, each within ``largest`` of its mean.

    For any law of the terms: rows are independent, whatever happens within a row.
    """
    t, v, m = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (deviation, variance, largest)))
    t = np.abs(t)
    below = v + m * t / 3.0
    exponent = np.divide(t * t, below, out=np.zeros(t.shape), where=t > 0.0)
    return np.asarray(np.minimum(1.0, 2.0 * np.exp(-0.5 * exponent)))


def mixed(hits: npt.ArrayLike, trials: npt.ArrayLike, expected: npt.ArrayLike) -> Floats:
    """Return a bound on the tails of a sum of ``trials`` independent yes or no with the mean ``expected``.

    Twice exp(-n KL(x/n || mean/n)), whatever the single chances are (Hoeffding 1963, theorem 1).
    """
    x, n, mean = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (hits, trials, expected)))
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = rel_entr(x, mean) + rel_entr(n - x, n - mean)
    divergence = np.where(np.abs(x - mean) <= 1e-9 * np.maximum(1.0, n), 0.0, divergence)
    return np.minimum(1.0, 2.0 * np.exp(-np.maximum(divergence, 0.0)))
