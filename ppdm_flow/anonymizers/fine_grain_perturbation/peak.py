"""The peak of a concave piecewise linear function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Floats


def peak(breaks: Floats, rise: Callable[[float], float], low: float, high: float) -> float:
    """Return where a concave piecewise linear function peaks in [low, high]; ``rise`` is its slope.

    Bisection over the sorted breakpoints: the slope is constant between neighbours.
    """
    points = np.unique(np.concatenate([[low], breaks[(breaks > low) & (breaks < high)], [high]]))
    first, last = 0, len(points) - 1  # the peak is one of points[first..last]
    while first < last:
        middle = (first + last) // 2
        if rise(float(points[middle] + (points[middle + 1] - points[middle]) / 2)) > 0.0:
            first = middle + 1
        else:
            last = middle
    return float(points[first])
