"""How the copy of a released table lies on disk: what each file of its folder holds.

Of each column the copy has its different values once, in their order, and a number (code) for each row: the place of
its value among them. So a filter is a comparison of small whole numbers, whatever the values are, and an order of rows
is laid down when the copy is made. A request reads a bounded part of these files, and maps none into memory. On a table
of a million rows that takes some milliseconds for any filter, order and page; DuckDB takes up to half a second for a
page far behind in an order.

==================  ================================================================================
``about.json``      :class:`TableAbout`
``N.codes``         the code of each row, whole numbers of ``width`` bytes
``N.order``         the numbers of all rows in the order of this column, 4 bytes each
``N.ends``          where the text of each value ends in ``N.texts``, 8 bytes each
``N.texts``         the values as they were released, one after the other, in UTF-8
``N.counts``        how many rows have each value, 4 bytes each
``N.numbers``       the values of a column of numbers or moments, 8 bytes each, ascending
==================  ================================================================================
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from ppdm_flow.core.roles import AttributeType

VERSION = 1
"""Of the layout: a copy of another version is made again."""
ABOUT = "about.json"
SUPPRESSED = "⊥"
MOST_ROWS = 2**32 - 1
"""The rows that an order can number."""


class ColumnForm(StrEnum):
    """What a column's values are, and so how it is filtered."""

    CHOICE = "choice"
    """Few texts, to choose from."""
    TEXT = "text"
    """Many texts, to search in."""
    NUMBER = "number"
    """Numbers, dates or moments, between bounds."""
    CODED = "coded"
    """Sets in a form that only programs read: there is nothing to show."""


MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class ColumnAbout:
    """A column of the copy: ``number`` is its place in the released file.

    Codes from 0 to ``values`` - 1 are values; the next one is of suppressed cells, and the one after that of missing
    ones, of which there are so many. ``changes`` says what steps did to the column.
    """

    number: int
    name: str
    type: AttributeType
    form: ColumnForm
    changes: tuple[str, ...] = ()
    values: int = 0
    width: int = 1
    suppressed: int = 0
    missing: int = 0

    @property
    def suppressed_code(self) -> int:
        """The code of suppressed cells."""
        return self.values

    @property
    def missing_code(self) -> int:
        """The code of missing cells."""
        return self.values + 1

    def has_code(self, code: int) -> bool:
        """Whether some row may have this code: that of a value, or of cells without one where there are such."""
        cells = {self.suppressed_code: self.suppressed, self.missing_code: self.missing}
        return 0 <= code < self.values or cells.get(code, 0) > 0


@dataclass(frozen=True, slots=True)
class TableAbout:
    """A copy: how many rows, and its columns in the order of the released file."""

    rows: int
    columns: tuple[ColumnAbout, ...]

    def write(self, folder: Path) -> None:
        """Write this into the folder of the copy."""
        document = {"version": VERSION, "rows": self.rows, "columns": [asdict(each) for each in self.columns]}
        (folder / ABOUT).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return what the copy in a folder is; None where there is none of this version."""
        try:
            document = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if document.get("version") != VERSION:
            return None
        return cls(document["rows"], tuple(_column(each) for each in document["columns"]))


def width(values: int) -> int:
    """Return how many bytes a code takes, so that codes of suppressed and missing cells fit as well."""
    return next(size for size in (1, 2, 4) if values + 2 <= 256**size)


def _column(document: dict[str, Any]) -> ColumnAbout:
    words = {"type": AttributeType(document["type"]), "form": ColumnForm(document["form"])}
    return ColumnAbout(**{**document, **words, "changes": tuple(document["changes"])})
