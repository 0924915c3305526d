"""Options that hold several values between commas."""

from __future__ import annotations

import math

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError


def words(text: str | None) -> tuple[str, ...]:
    """Return the parts, without blanks around them; nothing for no option."""
    return () if text is None else tuple(part.strip() for part in text.split(","))


def numbers(option: str, text: str | None) -> tuple[float, ...]:
    """Return numbers. Raises UsageError where a part is none."""
    try:
        found = tuple(float(part) for part in words(text))
    except ValueError:
        found = (math.nan,)
    if not all(math.isfinite(n) for n in found):
        raise UsageError(Diagnostic("PPF131", f"`{option}` takes numbers with commas between, as 0,18,65"))
    return found


def whole(option: str, text: str | None) -> tuple[int, ...]:
    """Return whole numbers from 0. Raises UsageError where a part is none."""
    found = numbers(option, text)
    if any(n < 0 or n != int(n) for n in found):
        raise UsageError(Diagnostic("PPF131", f"`{option}` takes whole numbers with commas between, as 4,3,0"))
    return tuple(int(n) for n in found)
