"""Edges of intervals over a column of numbers, so round that none is a value of anybody."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_WANTED = 8
_STEPS = (1.0, 2.0, 5.0, 10.0)
_MIDDLE = (0.05, 0.95)
_FEWEST = 9
"""Distinct numbers below which intervals say hardly less than the numbers."""


def edges(numbers: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], *, whole: bool = False) -> tuple[float, ...]:
    """Return ascending round edges (1, 2 or 5 times a power of ten apart) around the middle 90 % of the rows.

    ``whole``: none lies between whole numbers.

    They depend on two quantiles, rounded outward, and on nothing else; beyond them intervals have to be open. Empty
    for fewer than nine distinct numbers, or where the middle is one number.
    """
    if len(numbers) < _FEWEST:
        return ()
    order = np.argsort(numbers, kind="stable")
    share = np.cumsum(counts[order]) / max(1, int(counts.sum()))
    places = np.minimum(np.searchsorted(share, np.array(_MIDDLE)), len(order) - 1)
    low, high = (float(number) for number in numbers[order[places]])
    if not low < high:
        return ()
    step = max(1.0 if whole else 0.0, _step((high - low) / _WANTED))
    first, last = np.floor(low / step), np.ceil(high / step)
    if not abs(first) < 1e12 or not abs(last) < 1e12:
        return ()
    found = tuple(float(f"{i * step:.12g}") for i in range(int(first), int(last) + 1))
    return found if len(set(found)) == len(found) > 1 else ()


def _step(width: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least ``width``."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(next((s * power for s in _STEPS if s * power >= width * (1 - 1e-9)), 10.0 * power))
