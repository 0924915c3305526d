"""Means of repeated runs, with the interval in which the mean lies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import t as student

LEVEL = 0.95
BOTH = 0.975
"""The level of each of two intervals that hold at once 95 times of 100, under any dependence."""
FIRST, SECOND = ".first", ".second"

Values = Mapping[str, Sequence[float]]


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
        return self.within(LEVEL)

    def within(self, level: float) -> float:
        """Return half of the interval that holds the mean with so high a probability."""
        return self.error * _quantile(self.runs - 1, level) if self.runs > 1 else math.inf

    @property
    def low(self) -> float:
        return self.value - self.reach

    @property
    def high(self) -> float:
        return self.value + self.reach

    def again(self, runs: int, level: float = LEVEL) -> tuple[float, float]:
        """Return the interval in which the mean of so many more runs lies, 95 times of 100."""
        reach = self.within(level) * math.sqrt(1 + self.runs / runs)
        return self.value - reach, self.value + reach

    def minus(self, other: Mean) -> Mean:
        """Return the difference of the means of runs that have nothing to do with each other."""
        error = math.hypot(self.error, other.error)
        least, most = self.least - other.most, self.most - other.least
        return Mean(self.value - other.value, error, min(self.runs, other.runs), least, most)


@dataclass(frozen=True)
class Larger:
    """The larger of two means of the same runs; ``least`` and ``most`` are the larger ones of single runs.

    Each mean lies in its interval with a probability of 97.5 per cent, so the larger lies between the larger ends of
    both with 95 per cent at least.
    """

    first: Mean
    second: Mean
    least: float
    most: float

    @classmethod
    def of(cls, first: Sequence[float], second: Sequence[float]) -> Larger:
        single = np.maximum(first, second)
        return cls(Mean.of(first), Mean.of(second), float(single.min()), float(single.max()))

    @property
    def value(self) -> float:
        return max(self.first.value, self.second.value)

    @property
    def runs(self) -> int:
        return self.first.runs

    @property
    def low(self) -> float:
        return max(mean.value - mean.within(BOTH) for mean in (self.first, self.second))

    @property
    def high(self) -> float:
        return max(mean.value + mean.within(BOTH) for mean in (self.first, self.second))

    @property
    def reach(self) -> float:
        """Half of the interval, which need not lie around ``value``."""
        return (self.high - self.low) / 2

    def again(self, runs: int) -> tuple[float, float]:
        """Return the interval in which the larger mean of so many more runs lies, 95 times of 100 at least."""
        (low, high), (other_low, other_high) = (mean.again(runs, BOTH) for mean in (self.first, self.second))
        return max(low, other_low), max(high, other_high)


def means_of(values: Values) -> dict[str, Mean | Larger]:
    """Return the mean of each figure; of one that was measured in two directions, the larger mean."""
    return {
        key: Larger.of(values[key + FIRST], values[key + SECOND]) if key + FIRST in values else Mean.of(each)
        for key, each in values.items()
    }


@cache
def _quantile(freedom: int, level: float) -> float:
    return float(student.ppf(0.5 + level / 2, freedom))
