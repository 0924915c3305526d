"""Released cells and original ones as exact numbers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from adversary.crowds import Release
from adversary.lineage import Made
from adversary.shares import MARKS

Number = Fraction | None


class LabelError(Exception):
    """A cell spells no number."""


def number(text: str, kind: str) -> Number:
    """Return a number, of a date its day; None where there is none. Raises LabelError."""
    if text in MARKS:
        return None
    try:
        return Fraction(date.fromisoformat(text).toordinal()) if kind == "date" else Fraction(Decimal(text))
    except (InvalidOperation, ValueError, OverflowError):
        raise LabelError from None


def kind_of(attribute: str, policy: Mapping[str, Any]) -> str:
    """Return the declared type of an attribute."""
    found: str = policy["attributes"][attribute].get("type", "text")
    return found


def originals(release: Release, attribute: str, policy: Mapping[str, Any]) -> list[Number]:
    """Return the original number of each released row."""
    kind = kind_of(attribute, policy)
    return [number(person[attribute], kind) for person in release.people]


def shown(release: Release, column: Made, kind: str) -> list[Number]:
    """Return what each row shows in a column. Raises LabelError of a label, and of any pseudonym, even of digits."""
    if column.computed - column.bare:
        raise LabelError
    return [number(row[column.name], kind) for row in release.cells]
