"""Reading numbers from text, and writing them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from ppdm_flow.mining.hierarchies.coarsening import UnplacedError


def decimals(values: Sequence[str]) -> list[Decimal]:
    """Return the values as exact numbers. Raises UnplacedError where some are none, infinity and NaN included."""
    read = [_decimal(v) for v in values]
    found = [d for d in read if d is not None]
    if len(found) < len(read):
        wrong = len(read) - len(found)
        raise UnplacedError(
            "PPF786", wrong, "are not numbers", "list spellings of a missing value under `source.missing`"
        )
    return found


def written(number: Decimal | float) -> str:
    """Return plain digits without trailing zeros: ``18``, ``0.5``, ``-3``."""
    exact = number if isinstance(number, Decimal) else Decimal(repr(number))
    if exact == exact.to_integral_value():
        return str(int(exact))
    return format(exact.normalize(), "f")


def _decimal(text: str) -> Decimal | None:
    if "_" in text:
        return None  # Python's own digit grouping, not a number of the data
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 400 else None
