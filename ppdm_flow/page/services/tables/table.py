"""A table that guests read: pages of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ppdm_flow.page.services.tables.column import Column
from ppdm_flow.page.services.tables.layout import SUPPRESSED, ColumnAbout, Form, TableAbout
from ppdm_flow.page.services.tables.question import Question
from ppdm_flow.page.services.tables.selection import selected


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as guests see it; ``state`` is known, suppressed, missing or coded."""

    text: str
    state: str = "known"


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some rows, each with its number in the file from 0 on; ``total`` is how many rows the question asks for."""

    total: int
    numbers: tuple[int, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The copy of a released table."""

    folder: Path
    about: TableAbout

    @classmethod
    def opened(cls, folder: Path) -> Self | None:
        """Return the copy in a folder; None where there is no whole one."""
        about = TableAbout.read(folder)
        return None if about is None else cls(folder, about)

    def column(self, number: int) -> Column:
        """Return a column by its number."""
        return Column(self.folder, self.about.columns[number])

    def page(self, question: Question, first: int, many: int, columns: Sequence[ColumnAbout]) -> TablePage:
        """Return ``many`` rows from the ``first`` on of what a question asks for, with some columns.

        Raises BoundError where a bound is no number, date or moment of its column's type.
        """
        every = [Column(self.folder, about) for about in self.about.columns]
        total, numbers = selected(every, self.about.rows, question, first, many)
        cells = [_cells(every[about.number], numbers) for about in columns]
        return TablePage(total, tuple(numbers), tuple(zip(*cells, strict=True)) if cells else ())


def _cells(column: Column, rows: Sequence[int]) -> list[Cell]:
    about = column.about
    if about.form is Form.CODED:
        return [Cell("", "coded")] * len(rows)
    codes = column.codes_of(rows)
    cells = {code: Cell(text) for code, text in column.texts(codes).items()}
    cells[about.suppressed_code] = Cell(SUPPRESSED, "suppressed")
    cells[about.missing_code] = Cell("", "missing")
    return [cells[code] for code in codes]
