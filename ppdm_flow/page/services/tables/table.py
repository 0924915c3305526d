"""A table that guests read: its copy in a database of DuckDB, and pages of it.

The copy is a folder with ``about.json`` (:class:`TableAbout`) and ``table.duckdb``:

=============  ==========================================================================================
``cells``      a row of the released file a row: ``place``, its number from 0 on, with an index where the rows are not
               too many; ``tN``, the text of column ``N``; ``nN``, its number, where the column has numbers or times
``order_N``    the rank of each row, in the order of ``cells``, when rows are sorted by column ``N``: suppressed cells
               after all values, missing ones last
``choices``    the values of columns of few: ``number`` of the column, ``code``, ``text``, ``rows``
=============  ==========================================================================================

Ranks are laid down when the copy is made, so that a page far behind in an order is found by comparing whole numbers. On
a million rows of eleven columns a page takes 5 to 80 ms of one processor; sorting the released file takes two seconds.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from itertools import accumulate, count
from pathlib import Path
from typing import Any, Self

import duckdb

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.page.services.places import BusyError

VERSION = 2
"""Of the layout: a copy of another version is made again."""
ABOUT, TABLE = "about.json", "table.duckdb"
SUPPRESSED = "⊥"
MOST_CHOICES = 200
_LONGEST = 1_200
"""Characters of a text that are read for a page."""
_MEMORY = "192MB"
"""What readers hold together; nothing is written to the disk."""
_ATTACHED = 16
"""Copies whose files are open: more than are read at once."""
_PIECE = 1 << 16
"""Rows of neighbouring places that are counted together."""
_EPOCH = date(1970, 1, 1)
_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)
_FARTHEST = 2**63


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


@dataclass(frozen=True, slots=True)
class ColumnAbout:
    """A column of the copy: ``number`` is its place in the released file.

    There are so many different ``values``, and so many ``suppressed`` and ``missing`` cells. Codes from 0 to ``values``
    - 1 are the values in their order; the next one is of suppressed cells, and the one after that of missing ones.
    ``changes`` says what steps did to the column.
    """

    number: int
    name: str
    type: AttributeType
    form: ColumnForm
    changes: tuple[str, ...] = ()
    values: int = 0
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


def _column(document: dict[str, Any]) -> ColumnAbout:
    words = {"type": AttributeType(document["type"]), "form": ColumnForm(document["form"])}
    return ColumnAbout(**{**document, **words, "changes": tuple(document["changes"])})


# What is asked of a table: conditions on columns, and an order.


class CellState(StrEnum):
    """What a cell may be instead of a value, or that it is one."""

    KNOWN = "known"
    SUPPRESSED = "suppressed"
    MISSING = "missing"


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


class BoundError(ValueError):
    """A bound is no number, date or moment of the type of its ``column``, which is told by its number."""

    def __init__(self, column: int) -> None:
        super().__init__("a bound is no value of the type of its column")
        self.column = column


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


class CopyDatabase:
    """One database in memory, with bounded memory, to which the copies are attached that were read last."""

    def __init__(self) -> None:
        self._lock, self._numbers = threading.Lock(), count()
        self._database: duckdb.DuckDBPyConnection | None = None
        self._attached: dict[Path, str] = {}

    @contextmanager
    def reading(self, folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a connection to a copy.

        Raises FileNotFoundError where that is gone, BusyError for want of memory, and where so many others were read
        meanwhile that the copy was detached.
        """
        try:
            with self._lock:
                connection = self._connected(folder)
            with connection:
                yield connection
        except duckdb.OutOfMemoryException:
            raise BusyError from None
        except duckdb.Error:
            if not (folder / TABLE).exists():
                raise FileNotFoundError(TABLE) from None
            if folder not in self._attached:
                raise BusyError from None
            raise

    def forget(self, folder: Path) -> None:
        """Detach a copy that is removed: its file would stay on the disk."""
        with self._lock:
            if self._database is not None and folder in self._attached:
                self._database.execute(f"DETACH {self._attached.pop(folder)}")

    def _connected(self, folder: Path) -> duckdb.DuckDBPyConnection:
        if self._database is None:
            self._database = duckdb.connect(config={"threads": 1, "memory_limit": _MEMORY, "temp_directory": ""})
        name = self._attached.pop(folder, None)
        if name is None:
            name, path = f"copy{next(self._numbers)}", str(folder / TABLE).replace("'", "''")
            self._database.execute(f"ATTACH '{path}' AS {name} (READ_ONLY)")
        self._attached[folder] = name  # the last one now
        if len(self._attached) > _ATTACHED:
            self._database.execute(f"DETACH {self._attached.pop(next(iter(self._attached)))}")
        connection = self._database.cursor()
        connection.execute(f"USE {name}")
        return connection


@dataclass(frozen=True, slots=True, eq=False)
class CopiedTable:
    """The copy of a released table."""

    folder: Path
    about: TableAbout
    database: CopyDatabase

    @classmethod
    def opened(cls, folder: Path, database: CopyDatabase) -> Self | None:
        """Return the copy in a folder; None where there is no whole one."""
        about = TableAbout.read(folder)
        return None if about is None else cls(folder, about, database)

    def page(self, question: RowFilter, first: int, many: int, columns: Sequence[ColumnAbout]) -> TablePage:
        """Return ``many`` rows from the ``first`` on of what a question asks for, with some columns.

        Raises BoundError where a bound is no number, date or moment of its column's type, FileNotFoundError where the
        copy is gone, BusyError for want of memory.
        """
        every = [_condition(self.about.columns[condition.column], condition) for condition in question.conditions]
        where = " AND ".join(sql for sql, _ in every)
        place, source = "place", "cells"
        if question.by is not None:
            place, source = self._place(question), f"cells POSITIONAL JOIN order_{question.by}"
        with self.database.reading(self.folder) as connection:
            values = [_looked_up(connection, value) for _, some in every for value in some]
            total, least, most, skipped = self.about.rows, first, first + many - 1, 0
            if where:
                query = f"SELECT {place} // {_PIECE}, count(*) FROM {source} WHERE {where} GROUP BY 1 ORDER BY 1"  # noqa: S608
                pieces = connection.execute(query, values).fetchall()
                total = sum(rows for _, rows in pieces)
                least, most, skipped = _window(pieces, first, many)
            numbers: Sequence[int] = range(first, min(first + many, total))
            if where or question.by is not None:
                rows = f"{where or 'true'} AND {place} BETWEEN {least} AND {most}"
                query = f"SELECT place FROM {source} WHERE {rows} ORDER BY {place} LIMIT {many} OFFSET {skipped}"  # noqa: S608
                numbers = [number for (number,) in connection.execute(query, values).fetchall()]
            return TablePage(total, tuple(numbers), _rows(connection, numbers, columns))

    def choices(self, columns: Iterable[ColumnAbout], longest: int) -> dict[int, list[tuple[str, int]]]:
        """Return the values of those columns that have few, in their order, each with the number of rows that have it.

        Columns are told by their numbers. A text of more than ``longest`` characters ends with ``…``.
        """
        found: dict[int, list[tuple[str, int]]] = {c.number: [] for c in columns if c.form is ColumnForm.CHOICE}
        query = "SELECT number, left(text, ?), rows FROM choices WHERE list_contains(?, number) ORDER BY number, code"
        if found:
            with self.database.reading(self.folder) as connection:
                for number, text, rows in connection.execute(query, [longest + 1, [*found]]).fetchall():
                    found[number].append((_shortened(text, longest), rows))
        return found

    def _place(self, question: RowFilter) -> str:
        """Return the place of a row in an order, in SQL: what is no value stays last if the others are turned round."""
        about = self.about.columns[question.by or 0]
        known = self.about.rows - about.suppressed - about.missing
        return f"CASE WHEN rank < {known} THEN {known - 1} - rank ELSE rank END" if question.descending else "rank"


def _window(pieces: Sequence[tuple[int, int]], first: int, many: int) -> tuple[int, int, int]:
    """Return the least and the largest place among which ``many`` rows from ``first`` on are, and how many to skip.

    Of the rows in question, ``pieces`` counts those with neighbouring places: sorting all of them takes three times as
    long as counting, and memory.
    """
    ends = list(accumulate(rows for _, rows in pieces))
    low, high = bisect_right(ends, first), bisect_left(ends, first + many)
    if low == len(pieces):
        return 0, -1, 0
    last = min(high, len(pieces) - 1)
    return pieces[low][0] * _PIECE, (pieces[last][0] + 1) * _PIECE - 1, first - (ends[low] - pieces[low][1])


def _looked_up(connection: duckdb.DuckDBPyConnection, value: object) -> object:
    """Return the text of a code: a query that asks for it inside takes ten times as long."""
    if not isinstance(value, HasCode):
        return value
    query = "SELECT text FROM choices WHERE number = ? AND code = ?"
    ((text,),) = connection.execute(query, [value.column, value.code]).fetchall()
    return text


def _condition(about: ColumnAbout, condition: ColumnCondition) -> tuple[str, list[object]]:
    """Return a condition in SQL, and the values of its parameters; a code is still to be looked up."""
    text, number = f"t{about.number}", f"n{about.number}"
    missing, suppressed, known = f"{text} IS NULL", f"{text} = '{SUPPRESSED}'", f"{text} <> '{SUPPRESSED}'"
    states = {CellState.KNOWN: known, CellState.SUPPRESSED: suppressed, CellState.MISSING: missing}
    match condition:
        case ContainsFilter(_, part):
            if "%" in part or "_" in part:
                return f"{known} AND contains(lower({text}), lower(?))", [part]
            return f"{known} AND {text} ILIKE ?", [f"%{part}%"]  # in two thirds of the time
        case Equals(_, whole):
            return f"{known} AND {text} = ?", [whole]
        case StateFilter(_, state):
            return states[state], []
        case HasCode(_, about.suppressed_code):
            return suppressed, []
        case HasCode(_, about.missing_code):
            return missing, []
        case HasCode():
            return f"{text} = ?", [condition]
        case BetweenFilter(_, least, most):
            bounds = [(">=", _bound(about, least))] if least else []
            bounds += [("<=", _bound(about, most, is_last=True))] if most else []
            sql = " AND ".join([f"{number} IS NOT NULL", *(f"{number} {sign} ?" for sign, _ in bounds)])
            return sql, [value for _, value in bounds]
    raise ValueError(f"unknown condition {condition!r}")


def _bound(about: ColumnAbout, text: str, *, is_last: bool = False) -> float:
    try:
        number = bound(about.type, text, is_last=is_last)
    except (OverflowError, ValueError):
        raise BoundError(about.number) from None
    if number != number:  # what is no number equals nothing
        raise BoundError(about.number)
    return number if about.type is AttributeType.FLOAT else max(-_FARTHEST, min(number, _FARTHEST - 1))


def bound(kind: AttributeType, text: str, *, is_last: bool = False) -> float:
    """Return a bound as the numbers of a column of this type are; a day as the last moment ends with it.

    Raises ValueError where the text is none.
    """
    text = text.strip()
    match kind:
        case AttributeType.INTEGER:
            return int(text) if text.lstrip("+-").isdecimal() else float(text)  # a bound may be 2.5
        case AttributeType.DATE:
            return (date.fromisoformat(text) - _EPOCH).days
        case AttributeType.TIMESTAMP:
            moment = datetime.fromisoformat(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            ends_day = is_last and len(text) == len("2000-01-01")
            return (moment - _START + (_DAY - _MICROSECOND if ends_day else timedelta())) // _MICROSECOND
        case _:
            return float(text)


def _rows(
    connection: duckdb.DuckDBPyConnection, numbers: Sequence[int], columns: Sequence[ColumnAbout]
) -> tuple[tuple[GuestCell, ...], ...]:
    """Return the cells of some rows, in the order of their numbers."""
    if not (numbers and columns):
        return ()
    cells = ", ".join(f"left(t{about.number}, {_LONGEST + 1})" for about in columns)
    query = f"SELECT place, {cells} FROM cells WHERE place IN ({', '.join(map(str, numbers))})"  # noqa: S608
    by_number = {number: texts for number, *texts in connection.execute(query).fetchall()}
    return tuple(
        tuple(_cell(about, text) for about, text in zip(columns, by_number[number], strict=True)) for number in numbers
    )


def _cell(about: ColumnAbout, text: str | None) -> GuestCell:
    if about.form is ColumnForm.CODED:
        return GuestCell("", "coded")
    if text is None:
        return GuestCell("", "missing")
    return GuestCell(_shortened(text, _LONGEST), "suppressed" if text == SUPPRESSED else "known")


def _shortened(text: str, longest: int) -> str:
    return f"{text[:longest]}…" if len(text) > longest else text
