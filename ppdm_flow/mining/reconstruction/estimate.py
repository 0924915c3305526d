"""From released counts to estimates of the original ones, with what is known of their error."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.reconstruction.channel import Floats, Positions
from ppdm_flow.mining.reconstruction.channels import AnyChannel
from ppdm_flow.mining.reconstruction.likelihood import iterate, maximum
from ppdm_flow.mining.reconstruction.variance import intervals, variances

Method = Literal["inverse", "em"]

ERROR = 1e-6
"""How often counts that the operator did make are called misfits, at most about."""

_LEAST_ROWS = 100


def project(values: Floats, total: Floats, variance: Floats | None = None) -> Floats:
    """Return x >= 0 with sum N that minimizes sum_j (x_j - v_j)^2 / s_j, in O(m log m).

    x_j = max(0, v_j - t s_j); t follows from the values in descending order of v_j / s_j (for equal s it is the
    Euclidean projection of Held, Wolfe and Crowder, 1974). With s the variances of the estimates, what is known well
    moves little.

    Parameters
    ----------
    values : v of shape (..., m)
    total : N >= 0 of shape (...)
    variance : s of shape (..., m), not negative; equal ones if None
    """
    spread = np.ones_like(values) if variance is None else _positive(variance)
    order = np.argsort(-values / spread, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    widths = np.take_along_axis(spread, order, axis=-1)
    shift = (np.cumsum(ordered, axis=-1) - total[..., None]) / np.cumsum(widths, axis=-1)
    within = ordered > shift * widths
    last = values.shape[-1] - 1 - np.argmax(within[..., ::-1], axis=-1)
    chosen = np.take_along_axis(shift, last[..., None], axis=-1)
    return np.asarray(np.where(total[..., None] > 0, np.maximum(values - chosen * spread, 0.0), 0.0))


def _positive(variance: Floats) -> Floats:
    """Keep exactly known values from dividing by zero; they move by nothing that shows."""
    return np.asarray(np.maximum(variance, 1e-9 * (1.0 + variance.max(axis=-1, keepdims=True))))


@dataclass(frozen=True, slots=True, eq=False)
class Reconstruction:
    """Estimates of the original counts of the very rows that were released; arrays have shape (..., m).

    ``unbiased`` is A y, which may be negative; ``estimate`` lies in [0, N] and sums to N. ``error`` is the standard
    error of ``unbiased`` given the fixed original table, ``low`` and ``high`` the interval's ends. For the values
    ``alike`` that cannot be told apart, ``unbiased`` and ``estimate`` are an equal share of their sum, ``error`` is
    NaN and the interval reaches from 0 to the upper end for their sum; ``together`` has what is known of that.
    ``gap``, ``rounds`` and ``converged`` are those of :class:`~ppdm_flow.mining.reconstruction.likelihood.Iterated`.
    """

    released: Floats
    unbiased: Floats
    estimate: Floats
    error: Floats
    low: Floats
    high: Floats
    total: Floats
    alike: Positions
    together: PooledSum | None = None
    rounds: npt.NDArray[np.int64] | None = None
    gap: Floats | None = None
    converged: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PooledSum:
    """The sum over the values that cannot be told apart; shape (...)."""

    released: Floats
    unbiased: Floats
    estimate: Floats
    error: Floats
    low: Floats
    high: Floats


def reconstruct_counts(
    channel: AnyChannel, released: npt.ArrayLike, method: Method = "inverse", level: float = 0.95, rounds: int = 20_000
) -> Reconstruction:
    """Estimate the original counts of the released rows.

    Parameters
    ----------
    released : y of shape (..., m), counts by the operator's domain
    method : ``inverse`` (A y, brought to what could be by the least move in standard errors) or ``em`` (maximum
        likelihood: iterative Bayesian reconstruction, begun where it ends, so that few or no rounds are left)
    level : of the intervals, between 0 and 1, ends excluded
    rounds : most updates of ``em``

    Raises
    ------
    ValueError
        Where a count is negative or no number, or their last axis is not as long as the domain.
    """
    counts = np.asarray(released, dtype=np.float64)
    if counts.shape[-1:] != (channel.size,) or not np.all((counts >= 0) & np.isfinite(counts)):
        raise ValueError("released counts must be one finite number of at least 0 for each value of the domain")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    total = counts.sum(axis=-1)
    unbiased = channel.solve(counts)
    feasible = nearest(channel, unbiased, total)
    iterated = None
    if method == "em":
        iterated = iterate(channel, counts, maximum(channel, counts, unbiased), rounds)
    estimate = feasible if iterated is None else iterated.counts
    errors = np.sqrt(variances(channel, feasible))
    low, high = intervals(channel, _pooled(channel, unbiased), feasible, level)
    pooled = _pooled(channel, estimate)
    low, high = np.minimum(low, pooled), np.clip(pooled, high, total[..., None])
    together = None
    if len(channel.alike):
        together = _together(channel, counts, unbiased, estimate, errors, low, high)
        errors[..., channel.alike] = np.nan
        low[..., channel.alike] = 0.0
    return Reconstruction(
        released=counts,
        unbiased=unbiased,
        estimate=estimate,
        error=errors,
        low=low,
        high=high,
        total=total,
        alike=channel.alike,
        together=together,
        rounds=None if iterated is None else iterated.rounds,
        gap=None if iterated is None else iterated.gap,
        converged=None if iterated is None else iterated.converged,
    )


def nearest(channel: AnyChannel, unbiased: Floats, total: Floats) -> Floats:
    """Return counts that could be, at the least distance from A y in standard errors; shape (..., m)."""
    if not (unbiased < 0).any():
        return unbiased
    clipped = np.maximum(unbiased, 0.0)
    clipped *= (total / np.maximum(clipped.sum(axis=-1), 1e-300))[..., None]
    spread = variances(channel, clipped)
    spread[..., channel.rest] /= len(channel.rest)
    return project(unbiased, total, spread)


def _pooled(channel: AnyChannel, counts: Floats) -> Floats:
    pooled = np.array(counts)
    pooled[..., channel.rest] = counts[..., channel.rest].sum(axis=-1, keepdims=True)
    return pooled


def _together(
    channel: AnyChannel, released: Floats, unbiased: Floats, estimate: Floats, errors: Floats, low: Floats, high: Floats
) -> PooledSum:
    first = channel.alike[0]
    sums = [counts[..., channel.alike].sum(axis=-1) for counts in (released, unbiased, estimate)]
    return PooledSum(
        sums[0], sums[1], sums[2], np.array(errors[..., first]), np.array(low[..., first]), high[..., first]
    )


def misfit(channel: AnyChannel, released: npt.ArrayLike) -> bool:
    """Whether some count cannot come from any original table, but for chance, by a test per value (Bonferroni).

    Either an estimate lies below 0 by more standard errors than chance allows, or counts of values that nothing but
    chance tells apart differ too much. ``released`` has shape (m,); fewer than 100 rows fit anything.
    """
    counts = np.asarray(released, dtype=np.float64)
    total = counts.sum()
    if total < _LEAST_ROWS:
        return False
    limit = -NormalDist().inv_cdf(ERROR / (2 * channel.size))
    unbiased = channel.solve(counts)
    errors = np.sqrt(variances(channel, nearest(channel, unbiased, np.asarray(total))))
    below = unbiased < -limit * errors - 1e-6 * total
    alike = counts[channel.alike]
    apart = np.abs(alike - alike.mean()) > limit * np.sqrt(alike.mean()) + limit**2 if len(alike) else below[:0]
    return bool(below.any() or apart.any())
