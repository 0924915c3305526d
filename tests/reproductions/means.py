"""Means of repeated runs, with the interval in which the mean lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import t as student

LEVEL = 0.95


@dataclass(frozen=True)
class Mean:
    """``value`` of so many ``runs``, whose ``error`` is the standard error; ``least`` and ``most`` are single runs."""

    value: float
    error: float
    runs: int
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Raises ValueError for no values."""
        if not len(values):
            raise ValueError("there is no mean of no runs")
        found = np.asarray(values, dtype=float)
        error = float(found.std(ddof=1)) / math.sqrt(len(found)) if len(found) > 1 else 0.0
        return cls(float(found.mean()), error, len(found), float(found.min()), float(found.max()))

    @property
    def reach(self) -> float:
        """Half of the 95 per cent interval of the mean, by Student's t; of a single run nothing is known: infinite."""
        return self.error * _quantile(self.runs - 1) if self.runs > 1 else math.inf

    @property
    def low(self) -> float:
        return self.value - self.reach

    @property
    def high(self) -> float:
        return self.value + self.reach

    def again(self, runs: int) -> tuple[float, float]:
        """Return the interval in which the mean of so many more runs lies, 95 times of 100."""
        reach = self.reach * math.sqrt(1 + self.runs / runs)
        return self.value - reach, self.value + reach

    def minus(self, other: Mean) -> Mean:
        """Return the difference of the means of runs that have nothing to do with each other."""
        error = math.hypot(self.error, other.error)
        least, most = self.least - other.most, self.most - other.least
        return Mean(self.value - other.value, error, min(self.runs, other.runs), least, most)


@cache
def _quantile(freedom: int) -> float:
    return float(student.ppf(0.5 + LEVEL / 2, freedom))
