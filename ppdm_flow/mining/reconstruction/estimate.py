"""Estimates the original counts from the released ones, with their error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.reconstruction.likelihood import (
    AnyChannel,
    Floats,
    MatrixChannel,
    Positions,
    RetentionChannel,
    iterate,
    maximum,
)
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts

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
    ``gap``, ``rounds`` and ``converged`` are those of `IterationResult`.
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


# The error of an estimate: exact covariances of A y, without a matrix, and intervals by the score.
#
# Conditional on the fixed original table (n_i records of value i), only the randomization is random: Cov(y) = sum_i n_i
# (diag(P_i) - P_i P_i^T), P_i column i of P, so Cov(A y) = A diag(P n) A^T - A P diag(n) (A P)^T, and A P = 1 wherever
# values can be told apart.


def variances(channel: AnyChannel, counts: Floats) -> Floats:
    """Return Var(n_j estimated | the original counts n), shape (..., m) as ``counts``.

    For values that cannot be told apart it is the variance of their sum.
    """
    if isinstance(channel, MatrixChannel):
        return channel.variances(counts)
    variance: Floats = np.maximum(_spread(channel, channel.forward(counts)) - _variance_pooled(channel, counts), 0.0)
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


def _variance_pooled(channel: RetentionChannel, counts: Floats) -> Floats:
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


# Released counts by group, as reconstruction takes them: a row for each group, a column for each value.


FEW = 30
"""Below so many rows the normal approximation of the intervals is rough."""


@dataclass(frozen=True, slots=True, eq=False)
class ReconstructedGroups:
    """``keys`` are the groups' texts in the grouping columns (None is missing), ``released`` has shape (groups, m).

    ``outside`` is the number of rows whose value is not in the operator's domain; they are in no group's counts.
    """

    columns: tuple[str, ...]
    keys: tuple[tuple[str | None, ...], ...]
    released: Floats
    outside: int


def groups(counts: Counts, attribute: str, domain: Sequence[str | None], by: Sequence[str] = ()) -> ReconstructedGroups:
    """Lay out ``counts`` by the columns ``by`` and the values of ``attribute``; groups are sorted, missing first.

    Without ``by`` there is one group. Raises KeyError for a column that is not counted.
    """
    absent = [c for c in (*by, attribute) if c not in counts.columns]
    if absent:
        raise KeyError(absent[0])
    places = positions(counts.names(attribute), domain)[counts.of(attribute)]
    group, size = counts.groups(by)
    matrix = np.zeros((size, len(domain) + 1))
    np.add.at(matrix, (group, places), counts.counts)  # the last column takes what is outside the domain
    first = np.zeros(size, dtype=np.intp)
    first[group[::-1]] = np.arange(len(group))[::-1]
    columns = [_texts(counts, name, first) for name in by]
    keys = tuple(zip(*columns, strict=True)) if columns else ((),) * size
    return ReconstructedGroups(tuple(by), keys, matrix[:, :-1], int(matrix[:, -1].sum()))


def positions(names: pa.StringArray, domain: Sequence[str | None]) -> npt.NDArray[np.intp]:
    """Return where each category stands in the domain, and at the end where suppressed and missing cells do.

    So ``positions(...)[codes]`` works for the special codes -2 and -1 too. Outside the domain is -1.
    """
    values = pa.array(domain, pa.string())
    places = pc.index_in(names, value_set=values).fill_null(-1).to_numpy(zero_copy_only=False)
    special = {SUPPRESSED: -1, MISSING: domain.index(None) if None in domain else -1}
    return np.concatenate([places, [special[SUPPRESSED], special[MISSING]]]).astype(np.intp)


def too_small(estimates: Reconstruction) -> npt.NDArray[np.bool_]:
    """Return which groups say little: fewer than 30 rows, or not one value whose interval excludes 0; shape (...)."""
    low = (
        estimates.low
        if estimates.together is None
        else np.append(estimates.low, estimates.together.low[..., None], axis=-1)
    )
    return np.asarray((estimates.total < FEW) | ~(low > 0).any(axis=-1))


def _texts(counts: Counts, column: str, rows: npt.NDArray[np.intp]) -> list[str | None]:
    names = [*counts.names(column).to_pylist(), SUPPRESSED_TEXT, None]  # places -2 and -1
    return [names[c] for c in counts.of(column)[rows].tolist()]
