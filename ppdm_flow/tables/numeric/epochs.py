"""Moments as statistical packages store them: doubles that count ticks from a day of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_MICROSECONDS = 86_400_000_000
_DAYS = (-719_162, 2_932_896)
"""The first day of the year 1 and the last one of the year 9999, counted from 1970."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """``first_day`` is counted from 1970; ``grain``, in microseconds, is the finest that is told apart."""

    first_day: int
    ticks_per_day: int
    grain: int = 1

    def microseconds(self, ticks: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return microseconds from 1970, rounded to the grain. Ticks must be :meth:`within` the calendar."""
        days = np.floor(ticks / self.ticks_per_day)
        rest = (ticks - days * self.ticks_per_day) * (_MICROSECONDS / self.ticks_per_day)
        within = np.rint(rest / self.grain).astype(np.int64) * self.grain
        moments: npt.NDArray[np.int64] = (days.astype(np.int64) + self.first_day) * _MICROSECONDS + within
        return moments

    def ticks(self, microseconds: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the nearest ticks; a moment that :meth:`microseconds` does not give back has no exact tick."""
        days = microseconds // _MICROSECONDS
        rest = (microseconds - days * _MICROSECONDS) / (_MICROSECONDS / self.ticks_per_day)
        return (days - self.first_day).astype(np.float64) * self.ticks_per_day + rest

    def within(self, ticks: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Return a mask of the ticks in the years 1 to 9999."""
        days = np.floor(ticks / self.ticks_per_day) + self.first_day
        return np.asarray((days >= _DAYS[0]) & (days <= _DAYS[1]), dtype=bool)


SPSS = Epoch(first_day=-141_428, ticks_per_day=86_400, grain=10)
"""Seconds from 14 October 1582, for dates too: a double holds today's to two microseconds."""

STATA = Epoch(first_day=-3_653, ticks_per_day=86_400_000)
"""Milliseconds from 1960 (``%tc``)."""

SAS = Epoch(first_day=-3_653, ticks_per_day=86_400)
"""Seconds from 1960 (``DATETIME``)."""

DAYS_FROM_1960 = Epoch(first_day=-3_653, ticks_per_day=1)
"""Dates of SAS, and of Stata (``%td``)."""
