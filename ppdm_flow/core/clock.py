"""The clock: today's date is passed along as a value, so that tests can choose another day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

Clock = Callable[[], date]
"""Tells the day, in UTC."""


def utc_today() -> date:
    """Return the day that it is now, in UTC."""
    return datetime.now(UTC).date()


def in_a_year(today: date) -> date:
    """Return the same day of the next year; of 29 February, the 28th.

    >>> in_a_year(date(2028, 2, 29))
    datetime.date(2029, 2, 28)
    """
    leap = (today.month, today.day) == (2, 29)
    return today.replace(year=today.year + 1, day=28 if leap else today.day)
