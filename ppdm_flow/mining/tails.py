"""Tails of the binomial distribution, without ``scipy.stats``: its import takes half a second.

They are regularized incomplete beta functions: Pr[X > k] = I_p(k + 1, n - k).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]


def at_most(hits: Any, trials: Any, probability: Any) -> Floats:
    """Return Pr[X <= hits] of X ~ Bin(trials, probability), for each of arrays that broadcast; nan of no probability.

    >>> round(float(at_most(1, 3, 0.5)), 12)
    0.5
    """
    return _tail(special.betaincc, hits, trials, probability, below=0.0, beyond=1.0)


def above(hits: Any, trials: Any, probability: Any) -> Floats:
    """Return Pr[X > hits], which keeps its digits where it is small.

    >>> round(float(above(1, 3, 0.5)), 12)
    0.5
    """
    return _tail(special.betainc, hits, trials, probability, below=1.0, beyond=0.0)


def _tail(integral: Any, hits: Any, trials: Any, probability: Any, *, below: float, beyond: float) -> Floats:
    """Return the integral, ``below`` for less than no hit, and ``beyond`` from as many hits as trials."""
    k, n, p = np.broadcast_arrays(np.floor(hits), trials, probability)
    inside = (k >= 0) & (k < n)
    tails = integral(np.where(inside, k + 1, 1), np.where(inside, n - k, 1), p)
    return np.where(inside | np.isnan(tails), tails, np.where(k < 0, below, beyond))
