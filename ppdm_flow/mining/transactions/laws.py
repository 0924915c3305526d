"""How many of a transaction's own items are left in its randomized version: the law of |t ∩ t'|."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlog1py, xlogy

Floats = npt.NDArray[np.float64]


def log_choose(upper: npt.ArrayLike, lower: npt.ArrayLike) -> Floats:
    """Return ln C(upper, lower) elementwise, -inf where there is no such choice."""
    n, k = np.broadcast_arrays(np.asarray(upper, dtype=np.float64), np.asarray(lower, dtype=np.float64))
    possible = (k >= 0) & (k <= n)
    n, k = np.where(possible, n, 0.0), np.where(possible, k, 0.0)
    return np.where(possible, gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0), -np.inf)


def binomial(trials: npt.ArrayLike, hits: npt.ArrayLike, chance: float) -> Floats:
    """Return Pr[Binomial(trials, chance) = hits] elementwise, 0 where it cannot be."""
    n, k = np.broadcast_arrays(np.asarray(trials, dtype=np.float64), np.asarray(hits, dtype=np.float64))
    weight = xlogy(np.maximum(k, 0.0), chance) + xlog1py(np.maximum(n - k, 0.0), -chance)
    chances: Floats = np.exp(log_choose(n, k) + weight)
    return chances


def cut_law(size: int, cutoff: int) -> Floats:
    """Return the law of the cut: j uniform in 0..K, and m where j is larger; shape (m + 1,)."""
    law = np.zeros(size + 1)
    law[: min(cutoff, size) + 1] = 1.0 / (cutoff + 1)
    if cutoff > size:
        law[size] = (cutoff - size + 1) / (cutoff + 1)
    return law


def pasted_law(size: int, cutoff: int, insertion: float) -> Floats:
    """Return the law of |t ∩ t'| under cut-and-paste: the cut, and what of the rest of t came back; shape (m + 1,).

    Paper, section 5: p[j] = sum_c Pr[cut = c] C(m - c, j - c) rho^(j-c) (1 - rho)^(m-j).
    """
    cut, wanted = cut_law(size, cutoff), np.arange(size + 1)
    law = np.zeros(size + 1)
    for reached in range(min(cutoff, size) + 1):
        law += cut[reached] * binomial(size - reached, wanted - reached, insertion)
    return np.asarray(law / law.sum())


def binomial_law(size: int, keep: float) -> Floats:
    """Return the law of |t ∩ t'| where every item is kept on its own with one probability; shape (m + 1,)."""
    law = binomial(size, np.arange(size + 1), keep)
    return np.asarray(law / law.sum())


def identity_law(size: int) -> Floats:
    """Return the law of |t ∩ t'| where nothing is changed; shape (m + 1,)."""
    law = np.zeros(size + 1)
    law[size] = 1.0
    return law
