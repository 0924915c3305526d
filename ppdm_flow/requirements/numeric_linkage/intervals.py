"""How sure a share of a sample is."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from ppdm_flow.mining.exposure.numbers import Floats

ERROR = 0.05
"""Of all intervals together, both sides."""


def clopper_pearson(hits: float, trials: int, error: float) -> tuple[float, float]:
    """Return an interval that misses a share with a probability of at most ``error``.

    ``hits`` may be a sum of chances: that varies less than hits do. Source: Clopper, Pearson, Biometrika 26, 1934.

    >>> [round(end, 4) for end in clopper_pearson(0, 100, 0.05)]
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv  # noqa: PLC0415  # slow to import

    low = float(betaincinv(hits, trials - hits + 1, error / 2)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - error / 2)) if hits < trials else 1.0
    return low, high


def upper_ends(hits: Floats, trials: int, error: float) -> Floats:
    """Return the upper ends of these intervals, for many numbers of ``hits`` (counts,).

    >>> upper_ends(np.array([0.0, 100.0]), 100, 0.05).round(4).tolist()
    [0.0362, 1.0]
    """
    from scipy.special import betaincinv  # noqa: PLC0415  # slow to import

    some = np.minimum(hits, trials * (1 - 1e-12))  # of all there is no quantile
    return np.where(hits < trials, betaincinv(some + 1, trials - some, 1 - error / 2), 1.0)


def wilson(share: float, trials: int, error: float) -> tuple[float, float]:
    """Return the score interval, which misses a share with a probability of about ``error`` (Wilson, JASA 22, 1927).

    >>> [round(end, 4) for end in wilson(0.5, 100, 0.05)]
    [0.4038, 0.5962]
    """
    z = NormalDist().inv_cdf(1 - error / 2)
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    reach = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def excess(share: float, guessing: float) -> float:
    """Return the part of ``share`` that ``guessing`` (below 1) does not explain, of all that guessing misses.

    Source: Giomi, Boenisch, Wehmeyer, Tasnadi, PoPETs 2023(2), equation 2.

    >>> excess(0.6, 0.2)
    0.5
    """
    return max(-1.0, (share - guessing) / (1.0 - guessing))
