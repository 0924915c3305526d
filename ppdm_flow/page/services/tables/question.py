"""What is asked of a table: conditions on columns, and an order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ColumnCondition:
    """What a row has to be in one column; ``column`` is its number."""

    column: int


@dataclass(frozen=True, slots=True)
class ContainsFilter(ColumnCondition):
    """The cell's text holds this one, in small letters or large."""

    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Equals(ColumnCondition):
    """The cell's text is this one."""

    column: int
    text: str


@dataclass(frozen=True, slots=True)
class HasCode(ColumnCondition):
    """The cell has this code: for columns of few values."""

    column: int
    code: int


@dataclass(frozen=True, slots=True)
class BetweenFilter(ColumnCondition):
    """The cell's number, date or moment is not below ``least`` and not above ``most``; an empty text is no bound."""

    column: int
    least: str
    most: str


class CellState(StrEnum):
    """What a cell may be instead of a value, or that it is one."""

    KNOWN = "known"
    SUPPRESSED = "suppressed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class StateFilter(ColumnCondition):
    """The cell is a value, suppressed or missing."""

    column: int
    state: CellState


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Rows for which all conditions hold, in the order of the column ``by``; None is the order of the file.

    Suppressed and missing cells come last in any order.
    """

    conditions: tuple[ColumnCondition, ...] = ()
    by: int | None = None
    descending: bool = False
