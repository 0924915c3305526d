"""Means and covariances of columns, by two passes of exact sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.moments.exact_sum import ExactSum

Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.int64]
Part = tuple[Sequence[Floats], Weights | None]
"""The columns of some rows, each of shape (rows,), and how many rows each of them counts as; None for one."""
Parts = Callable[[], Iterable[Part]]
"""Gives the same rows every time that it is called."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """``rows`` counted with weights, ``means`` of shape (d,), ``covariance`` of shape (d, d) with divisor rows - 1.

    Without any row the means are 0, and with less than two the covariances.
    """

    rows: int
    means: Floats
    covariance: Floats

    @property
    def deviations(self) -> Floats:
        """The standard deviations, shape (d,)."""
        roots: Floats = np.sqrt(np.diagonal(self.covariance))
        return roots


def moments(parts: Parts, columns: int) -> Moments:
    """Return the moments of ``columns`` columns.

    The second pass adds up products of differences from the rounded means, and corrects for that rounding; each
    product is rounded to a double, their sum is not.

    Raises
    ------
    ValueError
        Where a number is not finite, or so large that the square of its difference from the mean is not.
    """
    rows, means = _means(parts, columns)
    shifts = [ExactSum() for _ in range(columns)]
    products = {(i, j): ExactSum() for i in range(columns) for j in range(i, columns)}
    for numbers, weights in parts():
        with np.errstate(over="ignore"):  # an infinite product is refused
            apart = [numbers[i] - means[i] for i in range(columns)]
            for i in range(columns):
                weighted = apart[i] if weights is None else apart[i] * weights
                shifts[i].add(weighted)
                for j in range(i, columns):
                    products[i, j].add(weighted * apart[j])
    covariance = np.zeros((columns, columns))
    for (i, j), total in products.items():
        correction = shifts[i].value * shifts[j].value / max(1, rows)
        covariance[i, j] = covariance[j, i] = float((total.value - correction) / max(1, rows - 1))
    return Moments(rows, means, np.where(rows > 1, covariance, 0.0))


def _means(parts: Parts, columns: int) -> tuple[int, Floats]:
    sums = [ExactSum() for _ in range(columns)]
    rows = 0
    for numbers, weights in parts():
        rows += len(numbers[0]) if weights is None else int(weights.sum())
        for total, values in zip(sums, numbers, strict=True):
            total.add(values if weights is None else values * weights)
    return rows, np.array([float(total.value / max(1, rows)) for total in sums])


def mean_of(parts: Iterable[tuple[Floats, Weights | None]]) -> float | None:
    """Return the mean of one column of numbers; None without any row. The sum is exact, products are rounded."""
    total, rows = ExactSum(), 0
    for values, weights in parts:
        total.add(values if weights is None else values * weights)
        rows += len(values) if weights is None else int(weights.sum())
    return float(total.value / Fraction(rows)) if rows else None
