"""Intervals for counts: by the score, so that they hold for rare values too."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ppdm_flow.mining.reconstruction.channel import Channel, Floats
from ppdm_flow.mining.reconstruction.variance import slopes, variances


def quantile(level: float) -> float:
    """Return z with Pr[|Z| <= z] = ``level``, 0 < level < 1."""
    return NormalDist().inv_cdf(0.5 + 0.5 * level)


def intervals(channel: Channel, unbiased: Floats, counts: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals for the original counts, each of shape (..., m), cut to [0, N].

    They hold the x with (estimate - x)^2 <= z^2 Var(x), as Wilson's (1927) does for a share: the variance is that of
    x, not that of the estimate. It is linear in the counts, so Var(x) = V + s (x - n_j) along the line on which the
    other counts move with x as their estimates do. For values that cannot be told apart it is the interval for their
    sum.

    Parameters
    ----------
    unbiased : A y of shape (..., m); for ``channel.rest`` the sum over it, in each of its places
    counts : n, the feasible estimate that is plugged in, shape (..., m)
    """
    total = counts.sum(axis=-1, keepdims=True)
    pooled = np.array(counts)
    pooled[..., channel.rest] = counts[..., channel.rest].sum(axis=-1, keepdims=True)
    slope = slopes(channel, counts)
    square = quantile(level) ** 2
    here = np.maximum(variances(channel, counts) + slope * (unbiased - pooled), 0.0)
    middle = unbiased + 0.5 * square * slope
    half = np.sqrt(0.25 * square * square * slope * slope + square * here)
    return np.clip(middle - half, 0.0, total), np.clip(middle + half, 0.0, total)
