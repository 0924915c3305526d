"""A table that guests read: pages of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ppdm_flow.page.services.tables.column import CopiedColumn
from ppdm_flow.page.services.tables.layout import SUPPRESSED, ColumnAbout, ColumnForm, TableAbout
from ppdm_flow.page.services.tables.question import RowFilter
from ppdm_flow.page.services.tables.selection import selected


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
