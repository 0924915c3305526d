"""A sheet of a workbook, by calamine: an optional extra."""

from __future__ import annotations

import datetime as dt
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.sources.excel.spec import ExcelSourceParams
from ppdm_flow.sources.faults import distinct, empty, fault, nul, unreadable


def text(cell: Any) -> str | None:
    """Return digits for numbers (whole ones without a point), ISO 8601 for times, ``true``; None for an empty cell."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) <= _EXACT else repr(cell)
    if isinstance(cell, dt.datetime):
        midnight = (cell.hour, cell.minute, cell.second, cell.microsecond) == (0, 0, 0, 0)
        return cell.date().isoformat() if midnight else cell.isoformat()
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return str(cell)


calamine: Any
try:
    calamine = import_module("python_calamine")
except ImportError:  # the extra is not installed
    calamine = None

_ROWS = 1 << 14
_EXACT = 1 << 53
"""Up to here a cell has every whole number."""
_TEXTS = pa.string()


class ExcelSource:
    """One sheet. Raises PluginError where the extra is missing."""

    def __init__(self, params: ExcelSourceParams, path: Path) -> None:
        if calamine is None:
            raise PluginError(
                Diagnostic("PPF723", "reading Excel needs an extra", help="pip install 'ppdm_flow[excel]'")
            )
        self.params = params
        self.path = path
        self._rows: list[list[Any]] | None = None
        self._given: tuple[str, ...] = ()

    def name_columns(self, names: Sequence[str]) -> None:
        """Take the names that the policy gives the columns: a first row of them is a header that nobody expected."""
        self._given = tuple(names)

    def names(self) -> tuple[str, ...]:
        """Return the first row, or positions where there is no header. Raises DataError."""
        rows = self._read()
        if not rows:
            raise empty(self.path)
        if not self.params.header:
            return tuple(f"column_{i}" for i in range(1, len(rows[0]) + 1))
        return distinct(self.path, tuple(text(cell) or "" for cell in rows[0]))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; cells are texts, empty ones null."""
        names = self.names()
        places = [names.index(c) for c in columns]
        rows = self._read()[1 if self.params.header else 0 :]
        if self._given and rows and _bare(text(cell) or "" for cell in rows[0]) == _bare(self._given):
            advice = f"`with: {{skip_rows: {self.params.skip_rows + 1}}}` leaves it out; without `columns` it is read"
            raise fault("PPF488", f"row 1 of `{self.path}` is a header", help=advice)
        for start in range(0, len(rows), _ROWS):
            part = rows[start : start + _ROWS]
            if columns:
                arrays = [self._texts(part, place, start).dictionary_encode() for place in places]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
            else:
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * len(part), pa.struct([])))

    def beside(self) -> Iterator[Finding]:
        """Yield what the file holds beside its cells."""
        return beside(self.path)

    def _texts(self, rows: list[list[Any]], place: int, start: int) -> pa.StringArray:
        cells = [text(row[place]) for row in rows]
        for number, cell in enumerate(cells, start + 1):
            if cell is not None and "\0" in cell:
                raise nul(f"row {number}")
        return pa.array(cells, _TEXTS)

    def _read(self) -> list[list[Any]]:
        if self._rows is None:
            try:
                with self.path.open("rb"):
                    pass
                _check_extent(self.path)
                book = calamine.CalamineWorkbook.from_path(str(self.path))
                sheet = book.get_sheet_by_name(self._sheet(book.sheet_names))
                self._rows = sheet.to_python(skip_empty_area=False)[self.params.skip_rows :]
            except OSError as error:
                raise unreadable(self.path, error) from None
            except (calamine.CalamineError, ValueError):
                raise fault("PPF717", f"`{self.path}` cannot be read as a workbook") from None
        return self._rows

    def _sheet(self, known: list[str]) -> str:
        wanted = self.params.sheet
        if wanted is None and known:
            return known[0]
        if wanted in known:
            return str(wanted)
        if wanted is not None and wanted.isdecimal() and 1 <= int(wanted) <= len(known):
            return known[int(wanted) - 1]
        raise fault(
            "PPF722",
            f"`{self.path}` has no sheet `{wanted}` among its {len(known)}",
            hint=did_you_mean(wanted or "", known),
        )


# A sheet is read as a rectangle up to its last cell: one cell far away would make a small file take any memory.


_PIECE = 1 << 20
_REFERENCE = 32
"""Bytes that are looked at again with the next piece: a reference is shorter."""
_COLUMN = re.compile(rb"""\br\s*=\s*["']([A-Z]{1,3})[0-9]""")
_ROW = re.compile(rb"""\br\s*=\s*["'][A-Z]{1,3}([0-9]{1,7})["']""")
_SMALL_SHEET = 10_000_000


def _check_extent(path: Path) -> None:
    """Raise DataError (PPF717) for a workbook with a sheet of far more cells than it has bytes."""
    try:
        with ZipFile(path) as book:
            for member in book.infolist():
                with book.open(member) as part:
                    size, columns, rows = _extent(part)
                if columns * rows > max(_SMALL_SHEET, size):
                    text = f"a sheet of `{path}` reaches to column {columns:,} of row {rows:,}, and is nearly empty"
                    raise fault("PPF717", text, help="remove the cells that lie far from the table, and save it anew")
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return  # of an older format, or damaged, which the reader says


def _extent(part: IO[bytes]) -> tuple[int, int, int]:
    """Return the bytes of a part of a workbook, and the last column and row that its references name."""
    size, columns, rows, rest = 0, {b"A"}, {b"1"}, b""
    while piece := part.read(_PIECE):
        size += len(piece)
        text = rest + piece
        columns.update(_COLUMN.findall(text))
        rows.update(_ROW.findall(text))
        rest = text[-_REFERENCE:]
    return size, max(map(_number, columns)), max(map(int, rows))


def _number(column: bytes) -> int:
    """Return the number of a column: 1 of ``A``, 28 of ``AB``."""
    number = 0
    for letter in column:
        number = 26 * number + letter - ord("A") + 1
    return number


def _bare(names: Iterable[str]) -> list[str]:
    """Return names in one order, without blanks around them and letter case."""
    return sorted(name.strip().lower() for name in names)


# What a workbook holds beside the cells of its sheet: other sheets, what is hidden, comments, properties.


_LARGEST = 1 << 26
_PARTS = (
    (
        r"xl/(threadedComments/)?(comments|threadedComment)[^/]*\.xml|xl/comments/.*\.xml",
        "comments",
        "comments on cells",
    ),
    (r"xl/(media|drawings|charts|embeddings)/[^/]+", "drawings", "pictures, charts or files within"),
    (
        r"xl/(pivotCache|pivotTables)/[^/]+\.xml",
        "pivots",
        "pivot tables, whose caches keep the rows that they were made of",
    ),
    (r"xl/externalLinks/[^/]+\.xml", "links", "links to other files, with the values that they had"),
    (r"xl/vbaProject\.bin", "macros", "macros"),
    (r"docProps/custom\.xml|customXml/.*", "properties", "properties of its own"),
)
_HIDDEN = re.compile(rb"<(?:\w+:)?(col|row)\b[^>]*\bhidden=\"(?:1|true)\"")
_STATE = re.compile(rb"<(?:\w+:)?sheet\b[^>]*\bstate=\"(?:hidden|veryHidden)\"")
_SHEET = re.compile(rb"<(?:\w+:)?sheet\b")
_NAMES = re.compile(rb"<(?:\w+:)?definedName\b")
_PEOPLE = re.compile(rb"<(?:dc:creator|cp:lastModifiedBy)>[^<]+<")


def beside(path: Path) -> Iterator[Finding]:
    """Yield what there is, in numbers and kinds; never a text of it. Files of older formats are told as a whole."""
    try:
        with ZipFile(path) as book:
            yield from _of(book)
    except BadZipFile:
        yield _finding("this form of a workbook cannot be looked through: save it as `.xlsx`", "format")


def _of(book: ZipFile) -> Iterator[Finding]:
    names = book.namelist()
    for pattern, subject, what in _PARTS:
        if any(re.fullmatch(pattern, name) for name in names):
            yield _finding(f"the workbook has {what}", subject)
    index = _read(book, "xl/workbook.xml")
    sheets, hidden = len(_SHEET.findall(index)), len(_STATE.findall(index))
    if sheets > 1:
        of_these = f", {hidden} of them hidden" if hidden else ""
        yield _finding(f"the workbook has {counted(sheets - 1, 'sheet')} more{of_these}", "sheets")
    if _NAMES.search(index):
        yield _finding("the workbook has names for cells or formulas", "names")
    if _PEOPLE.search(_read(book, "docProps/core.xml")):
        yield _finding("the workbook says who made it, or changed it last", "people")
    for name in names:
        if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name):
            kinds = {match.decode() for match in _HIDDEN.findall(_read(book, name))}
            words = [word for key, word in (("col", "columns"), ("row", "rows")) if key in kinds]
            if words:
                yield _finding(f"a sheet of the workbook has hidden {' and '.join(words)}", f"hidden {name}")


def _read(book: ZipFile, name: str) -> bytes:
    try:
        with book.open(name) as part:
            return part.read(_LARGEST)
    except KeyError:
        return b""


def _finding(text: str, subject: str) -> Finding:
    return Finding("PPF924", Severity.WARNING, text, subject)
