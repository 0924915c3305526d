"""What a workbook holds beside the cells of its sheet: other sheets, what is hidden, comments, properties."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding

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
