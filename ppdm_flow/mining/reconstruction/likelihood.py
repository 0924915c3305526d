"""The counts of greatest likelihood without iterating: where iterative Bayesian reconstruction ends."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.reconstruction.channel import Channel, Floats

_HALVINGS = 80
_LEAST = 1e-20


def maximum(channel: Channel, released: Floats, unbiased: Floats) -> Floats:
    """Return n >= 0 with sum N that maximizes sum_j y_j log (P n)_j, up to rounding; shape (..., m).

    Where A y has no negative count it is the maximum. Else, with mu = P n and c = q^T n, the conditions of Karush,
    Kuhn and Tucker read mu_i = max(c, y_i / (1 - b + b/p_i)) for one number b in [0, 1], and n_i = (mu_i - c)/p_i.
    For a given b the sum of mu fixes c, and sum n - N falls from positive to negative as b grows: so bisection, with
    a sort a step. A value with p = 0 has a count only if b = 0, and then has what is left.

    Parameters
    ----------
    released : y of shape (..., m), not negative
    unbiased : A y of the same shape
    """
    size = channel.size
    found = np.array(unbiased, dtype=np.float64).reshape(-1, size)
    counts = np.asarray(released, dtype=np.float64).reshape(-1, size)
    outside = np.flatnonzero((found < 0).any(axis=1))
    if len(outside) and not channel.retention[channel.rest].any():
        level = np.zeros((len(outside), 1))
        flat = _at(channel, counts[outside], level)
        left = counts[outside].sum(axis=1) - flat.sum(axis=1)
        flat[:, channel.rest] = (left / len(channel.rest))[:, None]
        good = left >= 0
        found[outside[good]] = flat[good]
        outside = outside[~good]
    if len(outside):
        found[outside] = _bisected(channel, counts[outside])
    return found.reshape(np.shape(unbiased))


def _bisected(channel: Channel, released: Floats) -> Floats:
    total = released.sum(axis=1)
    low = np.full(len(released), np.log(_LEAST))
    high = np.zeros(len(released))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = _at(channel, released, np.exp(middle)[:, None]).sum(axis=1) > total
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    counts = _at(channel, released, np.exp(0.5 * (low + high))[:, None])
    return np.asarray(counts * (total / np.maximum(counts.sum(axis=1), 1e-300))[:, None])


def _at(channel: Channel, released: Floats, level: Floats) -> Floats:
    """Return n for b = ``level``; values with p = 0 get none."""
    kept = channel.retention > 0
    inverse = np.divide(1.0, channel.retention, out=np.full(channel.size, np.inf), where=kept)
    weight = np.where(kept, 1.0 - level + level * np.where(kept, inverse, 1.0), np.inf)
    expected = released / weight
    common = _common(expected, released.sum(axis=1))[:, None]
    return np.where(kept, np.maximum(expected - common, 0.0) * np.where(kept, inverse, 0.0), 0.0)


def _common(expected: Floats, total: Floats) -> Floats:
    """Return c with sum_i max(c, b_i) = N, for b = ``expected`` with a sum of at most N."""
    size = expected.shape[1]
    ordered = np.sort(expected, axis=1)
    above = total[:, None] - (ordered.sum(axis=1, keepdims=True) - np.cumsum(ordered, axis=1))
    levels = above / np.arange(1, size + 1)  # with the 1, 2, ... smallest b raised to c
    enough = np.concatenate([levels[:, :-1] <= ordered[:, 1:], np.ones((len(expected), 1), dtype=bool)], axis=1)
    return np.take_along_axis(levels, np.argmax(enough, axis=1)[:, None], axis=1)[:, 0]
