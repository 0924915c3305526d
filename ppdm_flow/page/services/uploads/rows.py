"""One row more for a table that somebody uploaded, written as the rest of the file is."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from ppdm_flow.page.services.refusal import RefusalError

MOST_COLUMNS = 200
"""Columns up to which a form has a field for each."""
_ENDING = ".csv"


def takes_rows(file: Path) -> bool:
    """Whether rows are added to files of this kind: text with delimiters, unpacked."""
    return file.suffix == _ENDING


def columns_of(file: Path) -> tuple[str, ...]:
    """Return the names of the columns. Raises RefusalError where they are too many for a form."""
    from ppdm_flow.api.profile.data import look  # noqa: PLC0415  # the server itself reads no data
    from ppdm_flow.engine.opening.opening import open_source  # noqa: PLC0415  # as above

    node = look(file).node(file.name)
    names = tuple(node.columns or open_source(node, file).names())
    if len(names) > MOST_COLUMNS:
        raise RefusalError("uploads.row_columns", most=MOST_COLUMNS)
    return names


def line_of(file: Path, cells: Sequence[str]) -> bytes:
    """Return a row as a line of the file, in its encoding and with its delimiter.

    Raises RefusalError where the file has another number of columns, or has no way to write a cell.
    """
    from ppdm_flow.api.profile.data import look  # noqa: PLC0415  # the server itself reads no data

    if len(cells) != len(columns_of(file)):
        raise RefusalError("uploads.row_changed")
    if not any(cell.strip() for cell in cells):
        raise RefusalError("uploads.row_empty", 400)
    if any(unicodedata.category(character) == "Cc" for cell in cells for character in cell):
        raise RefusalError("uploads.row_characters", 400)
    options = look(file).node(file.name).options
    encoding, escape = str(options.get("encoding", "utf-8")), options.get("escape", "none")
    own = {
        "delimiter": str(options.get("delimiter", ",")),
        "escapechar": None if escape == "none" else str(escape),
        "doublequote": escape == "none",
    }
    written = io.StringIO(newline="")
    try:
        csv.writer(written, lineterminator="", **own).writerow(cells)
        line = written.getvalue()
        if next(csv.reader([line], strict=True, **own)) != list(cells):
            raise RefusalError("uploads.row_characters", 400)
        end = b"\r\n" if _first_line(file).endswith(b"\r\n") else b"\n"
        if "\n".encode(encoding) != b"\n":
            raise RefusalError("uploads.row_encoding")
        return line.encode(encoding) + end
    except (csv.Error, UnicodeEncodeError):
        raise RefusalError("uploads.row_characters", 400) from None


def _first_line(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.readline(1 << 20)
