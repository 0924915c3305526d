"""A table that guests read: pages of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ppdm_flow.page.services.tables.column import PIECE, SUPPRESSED, ColumnAbout, ColumnForm, CopiedColumn, TableAbout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

if TYPE_CHECKING:  # a server without tables needs no numpy
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GuestCell:
    """A cell as guests see it; ``state`` is known, suppressed, missing or coded."""

    text: str
    state: str = "known"


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some rows, each with its number in the file from 0 on; ``total`` is how many rows the question asks for."""

    total: int
    numbers: tuple[int, ...]
    rows: tuple[tuple[GuestCell, ...], ...]


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """The copy of a released table."""

    folder: Path
    about: TableAbout

    @classmethod
    def opened(cls, folder: Path) -> Self | None:
        """Return the copy in a folder; None where there is no whole one."""
        about = TableAbout.read(folder)
        return None if about is None else cls(folder, about)

    def column(self, number: int) -> CopiedColumn:
        """Return a column by its number."""
        return CopiedColumn(self.folder, self.about.columns[number])

    def page(self, question: RowFilter, first: int, many: int, columns: Sequence[ColumnAbout]) -> TablePage:
        """Return ``many`` rows from the ``first`` on of what a question asks for, with some columns.

        Raises BoundError where a bound is no number, date or moment of its column's type.
        """
        every = [CopiedColumn(self.folder, about) for about in self.about.columns]
        total, numbers = selected(every, self.about.rows, question, first, many)
        cells = [_cells(every[about.number], numbers) for about in columns]
        return TablePage(total, tuple(numbers), tuple(zip(*cells, strict=True)) if cells else ())


def _cells(column: CopiedColumn, rows: Sequence[int]) -> list[GuestCell]:
    about = column.about
    if about.form is ColumnForm.CODED:
        return [GuestCell("", "coded")] * len(rows)
    codes = column.codes_of(rows)
    cells = {code: GuestCell(text) for code, text in column.texts(codes).items()}
    cells[about.suppressed_code] = GuestCell(SUPPRESSED, "suppressed")
    cells[about.missing_code] = GuestCell("", "missing")
    return [cells[code] for code in codes]


# What is asked of a table: conditions on columns, and an order.


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


# The rows of a table that a question asks for, without holding more than a bit a row and a piece of a column.


def selected(
    columns: Sequence[CopiedColumn], rows: int, question: RowFilter, first: int, many: int
) -> tuple[int, list[int]]:
    """Return how many rows a question asks for, and the numbers of ``many`` of them from ``first`` on.

    Raises BoundError where a bound is no number, date or moment of its column's type.
    """
    if not question.conditions:
        return rows, _in_order(columns, rows, question, first, min(first + many, rows))
    mask = _mask(columns, rows, question.conditions)
    total = int(mask.sum())
    return total, _window(_candidates(columns, rows, question, mask), first, min(many, total - first))


def _mask(columns: Sequence[CopiedColumn], rows: int, conditions: Sequence[ColumnCondition]) -> Mask:
    import numpy as np  # noqa: PLC0415  # a server without tables needs none

    mask = np.ones(rows, dtype=bool)
    for condition in conditions:
        column = columns[condition.column]
        allowed = _allowed(column, condition)
        for start in range(0, rows, PIECE):
            stop = min(start + PIECE, rows)
            mask[start:stop] &= allowed[column.codes(start, stop)]
    return mask


def _allowed(column: CopiedColumn, condition: ColumnCondition) -> Mask:
    """Say of each code whether the condition holds; the last two are of suppressed and missing cells."""
    import numpy as np  # noqa: PLC0415  # a server without tables needs none

    allowed: Mask = np.zeros(column.about.values + 2, dtype=bool)
    match condition:
        case ContainsFilter(_, text):
            allowed = column.values_with(text, whole=False)
        case Equals(_, text):
            allowed = column.values_with(text, whole=True)
        case HasCode(_, code):
            allowed[code] = True
        case BetweenFilter(_, least, most):
            start, stop = column.between(least, most)
            allowed[start:stop] = True
        case StateFilter(_, CellState.SUPPRESSED):
            allowed[column.about.suppressed_code] = True
        case StateFilter(_, CellState.MISSING):
            allowed[column.about.missing_code] = True
        case StateFilter(_, CellState.KNOWN):
            allowed[: column.about.values] = True
    return allowed


def _in_order(columns: Sequence[CopiedColumn], rows: int, question: RowFilter, first: int, last: int) -> list[int]:
    """Return the rows from ``first`` to ``last`` of the whole table."""
    if question.by is None:
        return list(range(first, last))
    column, found = columns[question.by], list[int]()
    for start, stop, backwards in _stretches(column, rows, descending=question.descending):
        size = stop - start
        low, high = max(first, 0), min(last, size)
        if low < high:
            low, high = (size - high, size - low) if backwards else (low, high)
            piece = column.order(start + low, start + high)
            found += (piece[::-1] if backwards else piece).tolist()
        first, last = first - size, last - size
    return found


def _stretches(column: CopiedColumn, rows: int, *, descending: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield the stretches of a column's order, and whether each is read backwards: what is no value comes last."""
    known = rows - column.about.suppressed - column.about.missing
    yield 0, known, descending
    yield known, rows, False


def _candidates(
    columns: Sequence[CopiedColumn], rows: int, question: RowFilter, mask: Mask
) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the numbers of all rows for which the conditions hold, in pieces, in their order."""
    import numpy as np  # noqa: PLC0415  # a server without tables needs none

    if question.by is None:
        for start in range(0, rows, PIECE):
            yield np.flatnonzero(mask[start : start + PIECE]) + start
        return
    column = columns[question.by]
    for start, stop, backwards in _stretches(column, rows, descending=question.descending):
        for low in range(start, stop, PIECE):
            high = min(low + PIECE, stop)
            low_, high_ = (start + stop - high, start + stop - low) if backwards else (low, high)
            piece = column.order(low_, high_)
            piece = piece[::-1] if backwards else piece
            yield piece[mask[piece]].astype(np.intp)


def _window(pieces: Iterator[npt.NDArray[np.intp]], first: int, many: int) -> list[int]:
    """Return ``many`` numbers from the ``first`` on; what comes after is not read."""
    found: list[int] = []
    for piece in pieces:
        if len(found) >= many:
            break
        found += piece[max(first, 0) : max(first, 0) + many - len(found)].tolist()
        first -= len(piece)
    return found
