"""The error of an estimate: exact covariances of A y, without a matrix, and intervals by the score.

Conditional on the fixed original table (n_i records of value i), only the randomization is random:
Cov(y) = sum_i n_i (diag(P_i) - P_i P_i^T), P_i column i of P, so Cov(A y) = A diag(P n) A^T - A P diag(n) (A P)^T, and
A P = 1 wherever values can be told apart.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ppdm_flow.mining.reconstruction.channel import Floats, RetentionChannel
from ppdm_flow.mining.reconstruction.channels import AnyChannel
from ppdm_flow.mining.reconstruction.matrix_channel import MatrixChannel


def variances(channel: AnyChannel, counts: Floats) -> Floats:
    """Return Var(n_j estimated | the original counts n), shape (..., m) as ``counts``.

    For values that cannot be told apart it is the variance of their sum.
    """
    if isinstance(channel, MatrixChannel):
        return channel.variances(counts)
    variance: Floats = np.maximum(_spread(channel, channel.forward(counts)) - _pooled(channel, counts), 0.0)
    return variance


def slopes(channel: AnyChannel, counts: Floats) -> Floats:
    """Return how fast each variance grows with the count it belongs to, shape (..., m) as ``counts``.

    The other counts go along as the estimates do, by Cov(., j)/Var_j for each record more of value j. As the variance
    is linear in the counts, the slope is Var_j at the counts Cov(., j), divided by Var_j at ``counts``.
    """
    spread = variances(channel, counts)
    along = channel.along(counts) if isinstance(channel, MatrixChannel) else _along(channel, counts)
    moved = along - spread
    return np.divide(moved, spread, out=np.zeros_like(moved), where=spread > 0)


def _along(channel: RetentionChannel, counts: Floats) -> Floats:
    """Return row j of A^2 diag(P Cov(., j)): with A P = 1, P Cov(., j) = mu A_j - n_j P_j."""
    expected, blend, gain = channel.forward(counts), channel.blend, channel.gain
    squares = blend * blend
    mine = expected * (1.0 - blend) * gain - counts * (channel.retention + channel.leave)
    common = gain * (squares * expected - (expected @ (squares * blend))[..., None])
    common = common - counts * (channel.retention * squares + channel.leave * squares.sum())
    diagonal = gain * gain * (mine * (1.0 - 2.0 * blend) + common)
    row, rest = _rest_row(channel), channel.rest
    drawn = counts[..., rest] @ channel.leave[rest] * (row @ row)
    stayed = counts[..., rest] @ (channel.retention[rest] * row[rest] ** 2)
    diagonal[..., rest] = (expected @ row**3 - drawn - stayed)[..., None]
    return np.asarray(diagonal)


def _spread(channel: RetentionChannel, expected: Floats) -> Floats:
    """Return the diagonal of A diag(mu) A^T; for ``rest`` that of the row of its sum."""
    common = (expected @ (channel.blend * channel.blend))[..., None]
    diagonal: Floats = channel.gain * channel.gain * (expected * (1.0 - 2.0 * channel.blend) + common)
    row = _rest_row(channel)
    diagonal[..., channel.rest] = (expected @ (row * row))[..., None]
    return diagonal


def _rest_row(channel: RetentionChannel) -> Floats:
    """Return the coefficients by which y gives the sum over ``rest``: A^T of their indicator."""
    row: Floats = 1.0 - channel.gain + channel.blend * channel.gain.sum()
    return row


def _pooled(channel: RetentionChannel, counts: Floats) -> Floats:
    """Return the counts, with the sum over ``rest`` in each of its places."""
    pooled = np.array(counts, dtype=np.float64)
    pooled[..., channel.rest] = counts[..., channel.rest].sum(axis=-1, keepdims=True)
    return pooled


def quantile(level: float) -> float:
    """Return z with Pr[|Z| <= z] = ``level``, 0 < level < 1."""
    return NormalDist().inv_cdf(0.5 + 0.5 * level)


def intervals(channel: AnyChannel, unbiased: Floats, counts: Floats, level: float) -> tuple[Floats, Floats]:
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
