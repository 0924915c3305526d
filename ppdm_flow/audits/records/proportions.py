"""Intervals of proportions and of their differences."""

from __future__ import annotations

import math
from statistics import NormalDist

LEVEL = 0.95
ALARM = 0.001
"""The probability at most with which a finding is raised by chance."""


def deviate(two_sided: float = LEVEL) -> float:
    """Return the normal deviate of a two-sided interval."""
    return NormalDist().inv_cdf(0.5 + two_sided / 2)


def one_sided(error: float = ALARM) -> float:
    """Return the normal deviate that is exceeded with this probability."""
    return NormalDist().inv_cdf(1 - error)


def wilson(share: float, size: float, z: float | None = None) -> tuple[float, float]:
    """Return Wilson's score interval of a share of ``size`` independent trials (need not be whole)."""
    if size <= 0:
        return 0.0, 1.0
    z = deviate() if z is None else z
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    reach = z / (1 + z * z / size) * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def newcombe(a: float, size_a: float, b: float, size_b: float, z: float | None = None) -> tuple[float, float]:
    """Return the interval of ``a`` - ``b``, shares of independent samples.

    Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17
    (1998), method 10.
    """
    (low_a, high_a), (low_b, high_b) = wilson(a, size_a, z), wilson(b, size_b, z)
    down = math.sqrt((a - low_a) ** 2 + (high_b - b) ** 2)
    up = math.sqrt((high_a - a) ** 2 + (b - low_b) ** 2)
    return max(-1.0, a - b - down), min(1.0, a - b + up)
