"""Sums, means and covariances of columns of numbers, the same for any partitioning and any order of the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.int64]
Part = tuple[Sequence[Floats], Weights | None]
"""The columns of some rows, each of shape (rows,), and how many rows each of them counts as; None for one."""
Parts = Callable[[], Iterable[Part]]
"""Gives the same rows every time that it is called."""


# Means and covariances of columns, by two passes of exact sums.


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


_BLOCK = 1 << 16
_HALF = 27
"""Bits of the lower part of a mantissa: sums of 2^16 halves of 53 bits stay whole numbers in a double."""
_MANTISSA = 53
_LOW = 31


class ExactSum:
    """Adds up doubles or 64-bit integers.

    A double is m 2^e with a whole m of 53 bits. The m of one e are added up as whole numbers, in two halves, which is
    exact; Python's integers take the rest.

    >>> total = ExactSum()
    >>> for numbers in ([1e300, 1.0], [-1e300, 2.0**-60]):
    ...     total.add(np.array(numbers))
    >>> total.value == 1 + Fraction(1, 2**60)
    True
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: Counter[int] = Counter()

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Add numbers of shape (rows,), int64 or finite float64. Raises ValueError for NaN and infinity."""
        for start in range(0, len(numbers), _BLOCK):
            block = numbers[start : start + _BLOCK]
            if block.dtype.kind in "iu":
                low = int((block & ((1 << _LOW) - 1)).sum())
                self._parts[0] += (int((block >> _LOW).sum()) << _LOW) + low
            else:
                self._add_doubles(block)

    def _add_doubles(self, block: npt.NDArray[np.float64]) -> None:
        if not np.isfinite(block).all():
            raise ValueError("a sum of numbers that are not all finite")
        mantissa, exponent = np.frexp(block)
        integers = (mantissa * 2.0**_MANTISSA).astype(np.int64)
        least = int(exponent.min())
        places = exponent - least
        high = np.bincount(places, weights=integers >> _HALF)
        low = np.bincount(places, weights=integers & ((1 << _HALF) - 1))
        for place in np.flatnonzero((high != 0) | (low != 0)).tolist():
            self._parts[least + place - _MANTISSA] += (int(high[place]) << _HALF) + int(low[place])

    @property
    def value(self) -> Fraction:
        """The sum; ``float()`` of it is rounded correctly."""
        if not self._parts:
            return Fraction(0)
        least = min(self._parts)
        total = sum(m << (e - least) for e, m in self._parts.items())
        return Fraction(total) * Fraction(2) ** least
