"""Which estimates lie within a width of the original number: absolute, relative, by standard deviation or by rank."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.interval_disclosure.requirement import Width

SLACK = 1e-9
"""Relative to the original number and to the width: so much further away still counts."""


def near(estimate: Floats, original: Floats, weights: Ints, width: Width) -> npt.NDArray[np.bool_]:
    """Return a mask (rows,) of the estimates within the width; NaN is not. ``original`` has no NaN."""
    if width.form == "rank":
        return _near_by_rank(estimate, original, weights, width.size)
    size = width.size * (1.0 if width.form != "sd" else deviation(original, weights))
    half = np.abs(original) * size if width.form == "relative" else np.full(len(original), size)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(estimate - original) <= half + SLACK * np.maximum(half, np.abs(original)))


def deviation(numbers: Floats, weights: Ints) -> float:
    """Return the standard deviation of a population, 0 of none.

    >>> deviation(np.array([1.0, 3.0, 99.0]), np.array([2, 2, 0]))
    1.0
    """
    total = int(weights.sum())
    if not total:
        return 0.0
    mean = float((weights * numbers).sum() / total)
    return float(np.sqrt((weights * (numbers - mean) ** 2).sum() / total))


def _near_by_rank(estimate: Floats, original: Floats, weights: Ints, share: float) -> npt.NDArray[np.bool_]:
    order = np.argsort(original, kind="stable")
    sorted_numbers = original[order]
    below = np.concatenate((np.zeros(1, np.int64), np.cumsum(weights[order])))
    shown = ~np.isnan(estimate)
    apart = np.full(len(original), np.inf)
    ranks = [_rank(numbers[shown], sorted_numbers, below) for numbers in (estimate, original)]
    apart[shown] = np.abs(ranks[0] - ranks[1])
    return np.asarray(apart <= share * below[-1] + SLACK * max(1, int(below[-1])))


def _rank(numbers: Floats, sorted_numbers: Floats, below: Ints) -> Floats:
    """Return the middle of the ranks of the original numbers that each equals, or where it would stand."""
    slack = SLACK * np.maximum(1.0, np.abs(numbers))
    first = below[np.searchsorted(sorted_numbers, numbers - slack, side="left")]
    last = below[np.searchsorted(sorted_numbers, numbers + slack, side="right")]
    return np.asarray((first + last) / 2.0)
