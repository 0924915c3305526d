"""Reads the label of an interval by its own form, independent of the step that wrote it."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

_BETWEEN = re.compile(r"\[(?P<low>[^,\[\]]+), ?(?P<high>[^,\[\]]+)(?P<end>[\])])")
_BEYOND = re.compile(r"(?P<sign><=|>=|<|>) ?(?P<edge>.+)")


class Range(NamedTuple):
    """Numbers between two ends, None where there is none; ``low_in`` and ``high_in`` say whether they belong to it."""

    low: Decimal | None
    high: Decimal | None
    low_in: bool
    high_in: bool


def range_of(label: str) -> Range | None:
    """Return the range of ``[18, 25)``, ``>= 65`` and the like; None for any other text.

    >>> range_of("[18, 25)")
    Range(low=Decimal('18'), high=Decimal('25'), low_in=True, high_in=False)
    """
    if match := _BETWEEN.fullmatch(label):
        low, high = number_of(match["low"]), number_of(match["high"])
        return None if low is None or high is None else Range(low, high, True, match["end"] == "]")
    if match := _BEYOND.fullmatch(label):
        edge = number_of(match["edge"])
        if edge is not None:
            sign = match["sign"]
            return Range(None, edge, False, sign == "<=") if sign[0] == "<" else Range(edge, None, sign == ">=", False)
    return None


def number_of(text: str) -> Decimal | None:
    """Return the finite number that a text is, or None."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and "_" not in text else None
