"""The one spelling of a number, date or timestamp: what a policy has to write to name a value of a typed attribute."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

from ppdm_flow.core.roles import AttributeType

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
)
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
SMALL, LARGE = 1e-6, 1e16
"""Between these a number is written without an exponent."""


def canonical(text: str, kind: AttributeType) -> str | None:
    """Return how a typed column spells the value that ``text`` stands for, or None where it stands for none.

    >>> canonical("+07", AttributeType.INTEGER), canonical("1.50", AttributeType.FLOAT)
    ('7', '1.5')
    >>> canonical("2024-02-30", AttributeType.DATE) is None
    True
    """
    if kind is AttributeType.INTEGER:
        return _integer(text)
    if kind is AttributeType.FLOAT:
        return _float(text)
    if kind.is_time:
        return _moment(text, kind)
    return text


def _integer(text: str) -> str | None:
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return str(number) if _LEAST <= number <= _MOST else None


def _float(text: str) -> str | None:
    if not _FLOAT.fullmatch(text):
        return None
    number = float(text)
    return float_text(number) if abs(number) != float("inf") else None


def float_text(number: float) -> str:
    """Return the shortest text that reads back as the same finite number.

    >>> [float_text(x) for x in (10.0, 0.1, 12345678901.5, 1e-05, 1.5e-07, 1e+17, -0.0)]
    ['10', '0.1', '12345678901.5', '0.00001', '1.5e-7', '1e+17', '0']
    """
    if number == 0:
        return "0"
    shortest = repr(float(number))
    if SMALL <= abs(number) < LARGE:
        return format(Decimal(shortest), "f").removesuffix(".0")
    digits, _, exponent = shortest.partition("e")
    return f"{digits}e{'+' if int(exponent) > 0 else ''}{int(exponent)}"


def _moment(text: str, kind: AttributeType) -> str | None:
    if not (_DATE if kind is AttributeType.DATE else _TIMESTAMP).fullmatch(text):
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    if kind is AttributeType.DATE:
        return moment.date().isoformat()
    whole = moment.replace(microsecond=0).isoformat()
    return whole + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "")
