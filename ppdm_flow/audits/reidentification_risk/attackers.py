"""The risks of three attackers, from class sizes in the release and in the population.

With f_j the rows of class j in the release and F_j the persons of that class in the population (El Emam 2013, chapter
16): a prosecutor knows that the person is in the release, and is right with 1/f_j; a journalist knows only that the
person is in the population, and is right with 1/F_j; a marketer links all rows, and is right for the share
(1/n) sum of f_j/F_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Risk:
    """``highest`` of any row, ``average`` over rows, ``at_risk``: the share of rows above the threshold."""

    highest: float
    average: float
    at_risk: float


def risk(released: Integers, population: Integers, threshold: float) -> Risk:
    """Return the risk where a row of class j is found out with probability 1 / ``population``[j]; no row is no risk."""
    total = int(released.sum())
    if total == 0:
        return Risk(0.0, 0.0, 0.0)
    each = 1.0 / population
    return Risk(
        float(each.max()), float((released * each).sum() / total), float(released[each > threshold].sum() / total)
    )


def at_highest(released: Integers) -> float:
    """Return the share of rows in the smallest classes."""
    total = int(released.sum())
    return float(released[released == released.min()].sum() / total) if total else 0.0
