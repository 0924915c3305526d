"""A sum of numbers without any rounding, so that it does not matter in which parts or order they come."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

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
        whole = (mantissa * 2.0**_MANTISSA).astype(np.int64)
        least = int(exponent.min())
        places = exponent - least
        high = np.bincount(places, weights=whole >> _HALF)
        low = np.bincount(places, weights=whole & ((1 << _HALF) - 1))
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
