"""How far columns of numbers moved: means, variances, quantiles, distributions, correlations.

All work on ``values`` (rows, columns), NaN where a cell is missing, and on weights (rows,) of at least 0. A figure that
does not exist (no cell, no spread) is NaN here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
SMALLEST_EIGENVALUE = 0.01
"""Changes of smaller eigenvalues count relative to this: those of columns that determine each other are 0."""


@dataclass(frozen=True, slots=True, eq=False)
class NumericCells:
    """``values`` (rows, columns), NaN where missing, of rows that count ``weights`` (rows,) times."""

    values: Floats
    weights: Floats

    @property
    def columns(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    def present(self, column: int) -> tuple[Floats, Floats]:
        """Return the numbers of a column that are not missing, and the weights of their rows."""
        known = ~np.isnan(self.values[:, column]) & (self.weights > 0)
        return self.values[known, column], self.weights[known]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnLosses:
    """The changes of each column, each of shape (columns,), NaN where one does not exist.

    ``mean``, ``quantile`` (the largest of seven) and ``wasserstein`` are in standard deviations of the original,
    ``variance`` is relative to the original's, ``kolmogorov_smirnov`` and ``missing`` are shares.
    """

    mean: Floats
    variance: Floats
    quantile: Floats
    wasserstein: Floats
    kolmogorov_smirnov: Floats
    missing: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """``covariance`` and ``correlation`` (columns, columns), by the rows where both cells are present."""

    covariance: Floats
    correlation: Floats


def mean_and_deviation(numbers: Floats, weights: Floats) -> tuple[float, float]:
    """Return the weighted mean, and the standard deviation with n - 1 in the denominator; NaN where there is none."""
    total = weights.sum()
    if total <= 0:
        return np.nan, np.nan
    mean = float(np.average(numbers, weights=weights))
    if total <= 1:
        return mean, np.nan
    return mean, float(np.sqrt((weights * (numbers - mean) ** 2).sum() / (total - 1)))


def quantiles(numbers: Floats, weights: Floats, shares: Sequence[float] = QUANTILES) -> Floats:
    """Return the least numbers below or at which these shares of the weight lie, shape (shares,); NaN for no rows."""
    if not len(numbers):
        return np.full(len(shares), np.nan)
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached, np.asarray(shares) * reached[-1] * (1 - 1e-12), side="left")
    values: Floats = numbers[order][np.minimum(places, len(order) - 1)]
    return values


def distances(x: Floats, of_x: Floats, y: Floats, of_y: Floats) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov and the Wasserstein distance of two weighted samples; NaN where one is empty.

    The largest absolute difference of the two distribution functions, in [0, 1], and the area between them, in the
    unit of the numbers.
    """
    if not len(x) or not len(y):
        return np.nan, np.nan
    points = np.concatenate([x, y])
    order = np.argsort(points, kind="stable")
    steps = np.concatenate([of_x / of_x.sum(), -of_y / of_y.sum()])
    apart = np.abs(np.cumsum(steps[order]))
    gaps = np.diff(points[order])
    last_of_equal = np.append(gaps > 0, True)
    return float(min(1.0, apart[last_of_equal].max())), float((apart[:-1] * gaps).sum())


def column_losses(before: NumericCells, after: NumericCells, deviations: Floats) -> ColumnLosses:
    """Compare two samples column by column; ``deviations`` (columns,) are the units of means and quantiles."""
    losses = np.full((6, before.columns), np.nan)
    for i in range(before.columns):
        (x, of_x), (y, of_y) = before.present(i), after.present(i)
        (mean, spread), (mean_after, spread_after) = mean_and_deviation(x, of_x), mean_and_deviation(y, of_y)
        unit = deviations[i] if deviations[i] > 0 else np.nan
        farthest, area = distances(x, of_x, y, of_y)
        moved = np.abs(quantiles(y, of_y) - quantiles(x, of_x)).max()
        variance = abs(spread_after**2 / spread**2 - 1) if spread > 0 else np.nan
        missing = abs(_missing(before, of_x) - _missing(after, of_y))
        losses[:, i] = abs(mean_after - mean) / unit, variance, moved / unit, area / unit, farthest, missing
    return ColumnLosses(*losses)


def _missing(cells: NumericCells, present: Floats) -> float:
    total = float(cells.weights.sum())
    return 1 - float(present.sum()) / total if total > 0 else 0.0


def relations(cells: NumericCells) -> Relations:
    """Return covariances (n - 1 in the denominator) and correlations of each two columns; NaN where there are none."""
    known = ~np.isnan(cells.values)
    some = known.any(axis=0)
    middle = np.zeros(cells.columns)
    middle[some] = np.nanmean(cells.values[:, some], axis=0)
    centred = np.where(known, cells.values - middle, 0.0)  # sums of squares of centred numbers lose no digits
    counted = known * cells.weights[:, None]
    rows = counted.T @ known
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        left = (centred * cells.weights[:, None]).T @ known / rows  # of column i over the rows where j is present too
        product = (centred * cells.weights[:, None]).T @ centred / rows
        squares = (centred**2 * cells.weights[:, None]).T @ known / rows
        covariance = product - left * left.T
        variance = squares - left**2
        variance[variance <= 1e-12 * squares] = np.nan
        correlation = np.clip(covariance / np.sqrt(variance) / np.sqrt(variance.T), -1.0, 1.0)
        covariance = covariance * rows / (rows - 1)
    covariance[rows <= 1] = np.nan
    return Relations(covariance, correlation)


def eigenvalue_change(before: Floats, after: Floats) -> float:
    """Return the largest relative change of an eigenvalue of the correlation matrix, by rank; NaN where there is none.

    Columns whose correlations do not exist on one side are left out.
    """
    known = ~(np.isnan(before.diagonal()) | np.isnan(after.diagonal()))
    one, other = before[np.ix_(known, known)], after[np.ix_(known, known)]
    if len(one) < 2 or np.isnan(one).any() or np.isnan(other).any():
        return np.nan
    values, changed = np.linalg.eigvalsh(one), np.linalg.eigvalsh(other)
    return float((np.abs(changed - values) / np.maximum(values, SMALLEST_EIGENVALUE)).max())


def il1s(before: Floats, after: Floats, weights: Floats, deviations: Floats) -> Floats:
    """Return IL1s of each column, shape (columns,): the mean of |x - x'| / (sqrt(2) sd) over rows with both cells.

    ``before`` and ``after`` (rows, columns) are the same people's. Mateo-Sanz, Domingo-Ferrer, Sebé, "Probabilistic
    information loss measures in confidentiality protection of continuous microdata", Data Mining and Knowledge
    Discovery 11 (2005); Yancey, Winkler, Creecy (2002) for the scale. As `dUtility` of sdcMicro, divided by the rows.
    """
    moved = np.abs(before - after)
    counted = np.where(np.isnan(moved), 0.0, weights[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (np.nan_to_num(moved) * counted).sum(axis=0) / counted.sum(axis=0)
        loss: Floats = mean / (np.sqrt(2) * np.where(deviations > 0, deviations, np.nan))
    return loss
