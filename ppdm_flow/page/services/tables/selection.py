"""The rows of a table that a question asks for, without holding more than a bit a row and a piece of a column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ppdm_flow.page.services.tables.column import PIECE, CopiedColumn
from ppdm_flow.page.services.tables.question import (
    BetweenFilter,
    CellState,
    ColumnCondition,
    ContainsFilter,
    Equals,
    HasCode,
    RowFilter,
    StateFilter,
)

if TYPE_CHECKING:  # a server without tables needs no numpy
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]


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
