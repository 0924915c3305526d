"""How sure a share of a sample is."""

from __future__ import annotations

ERROR = 0.05
"""Of all intervals together, both sides."""


def clopper_pearson(hits: float, trials: int, error: float) -> tuple[float, float]:
    """Return an interval that misses a share with a probability of at most ``error``.

    ``hits`` may be a sum of chances: that varies less than hits do. Source: Clopper, Pearson, Biometrika 26, 1934.

    >>> [round(end, 4) for end in clopper_pearson(0, 100, 0.05)]
    [0.0, 0.0362]
    """
    from scipy.stats import beta  # noqa: PLC0415  # slow to import

    low = float(beta.ppf(error / 2, hits, trials - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(1 - error / 2, hits + 1, trials - hits)) if hits < trials else 1.0
    return low, high
