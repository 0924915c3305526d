"""Writes figures for people: percentages, thousands, seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppdm_flow.core.requirement import TOLERANCE

NONE = "not measured"
NOT_COMPARED = "not compared"
"""How the note of a figure begins that has no value because its two sides cannot be compared."""
_MINUS = "\N{MINUS SIGN}"
_DASH = "\N{EN DASH}"
_DIGITS = 3
_MOST_DIGITS = 12
_SHARES = frozenset({"share", "probability"})
_BARE = frozenset({"", "rows", "count", "number", "classes", "cells", "ratio", "distance"})
_ONE = {"people": "person", "bases": "basis"}
"""Units of one that do not only lose their last letter."""
_SECONDS_PER_MINUTE = 60


def amount(value: float | None, unit: str, digits: int = _DIGITS) -> str:
    """Return a figure in its unit, to ``digits`` significant digits; whole numbers are written whole."""
    if value is None:
        return NONE
    if unit in _SHARES:
        return number(100 * value, digits) + "%"
    if unit == "points":
        return number(100 * value, digits) + ("\N{NO-BREAK SPACE}points" if value else "")
    if unit == "seconds":
        return duration(value)
    text = number(value, digits)
    if unit in _BARE:
        return text
    return f"{text} {_ONE.get(unit, unit.removesuffix('s')) if text == '1' else unit}"


def noted(value: float | None, unit: str, note: str) -> str:
    """Return a figure in its unit; of one without a value, by its note, whether it was not measured or not compared."""
    return NOT_COMPARED if value is None and note.startswith(NOT_COMPARED) else amount(value, unit)


def pair(measured: float | None, bound: float, unit: str) -> tuple[str, str]:
    """Write a figure and its bound so finely that different numbers never look the same, and equal ones always do."""
    if measured is None:
        return NONE, amount(bound, unit)
    if abs(measured - bound) <= TOLERANCE * max(1.0, abs(bound)):
        return amount(bound, unit), amount(bound, unit)
    for digits in range(_DIGITS, _MOST_DIGITS + 1):
        texts = amount(measured, unit, digits), amount(bound, unit, digits)
        if texts[0] != texts[1]:
            return texts
    return repr(measured), repr(bound)


def between(interval: Sequence[float] | None, unit: str) -> str:
    """Write an interval, or nothing where there is none."""
    if not interval:
        return ""
    low, high = (amount(end, unit) for end in interval)
    return f"{low} to {high}"


def number(value: float, digits: int = _DIGITS) -> str:
    """Write a number with thousands separators, without exponents unless it is tiny or huge."""
    size = abs(value)
    if size and not 1e-6 <= size < 1e15:
        text = f"{size:.{digits}g}"
    elif isinstance(value, int) or size == int(size):
        text = f"{int(size):,}"
    else:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        text = f"{size:,.{places}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return _MINUS + text if value < 0 and text != "0" else text


def duration(seconds: float | None) -> str:
    """Write a stretch of time, or that it was not measured."""
    if seconds is None:
        return NONE
    if seconds < 1:
        return f"{number(1000 * seconds, 2)} ms"
    if seconds < _SECONDS_PER_MINUTE:
        return f"{number(seconds)} s"
    minutes, rest = divmod(round(seconds), _SECONDS_PER_MINUTE)
    return f"{minutes:,} min {rest} s"
