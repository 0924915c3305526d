"""The first record of a CSV file: its names, or its width, and how many lines it takes."""

from __future__ import annotations

import csv
import io
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from ppdm_flow.sources.csv.spec import CsvSourceParams
from ppdm_flow.sources.csv.text import CsvText, undecodable_line
from ppdm_flow.sources.faults import damaged, empty, fault, nul, undecodable, unreadable

_LONGEST = 1 << 28


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """``names`` of the columns; ``lines`` to skip before the first row of data."""

    names: tuple[str, ...]
    lines: int


def read_header(path: Path, params: CsvSourceParams) -> CsvHeader:
    """Read the first record. Without a header the columns are named by position. Raises DataError."""
    record, consumed = _first_record(path, params)
    if not params.header:
        return CsvHeader(tuple(f"column_{i}" for i in range(1, len(record) + 1)), params.skip_rows)
    names = tuple(name.strip() if params.strip else name for name in record)
    if any("\N{REPLACEMENT CHARACTER}" in name for name in names):
        raise undecodable(f"the header of `{path}`", params.encoding)
    if any("\0" in name for name in names):
        raise nul(f"the header of `{path}`")
    return CsvHeader(names, params.skip_rows + consumed)


def _first_record(path: Path, params: CsvSourceParams) -> tuple[list[str], int]:
    limit = csv.field_size_limit(_LONGEST)
    try:
        # the header is row 0; bytes that are no text are seen by the reader of the rows, but for those of a name
        with CsvText(path, params, params.skip_rows, first=-1) as stream, _text(stream) as text:
            return _read(path, text, params)
    except (EOFError, zlib.error):
        raise damaged(path) from None
    except UnicodeError:
        raise undecodable(f"line {undecodable_line(path, params.encoding)}", params.encoding) from None
    except csv.Error:
        raise fault("PPF716", f"`{path}`: the quotes of the first record are not in order") from None
    except OSError as error:
        raise (damaged(path) if error.errno is None else unreadable(path, error)) from None
    finally:
        csv.field_size_limit(limit)


def _text(stream: CsvText) -> io.TextIOWrapper:
    return io.TextIOWrapper(cast("BinaryIO", stream), "utf-8", "replace", newline="")


def _read(path: Path, text: io.TextIOWrapper, params: CsvSourceParams) -> tuple[list[str], int]:
    records = csv.reader(text, delimiter=params.delimiter, quotechar=params.quote, strict=True)
    blank = False
    for record in records:
        if len(record) == 1 and blank and params.header:
            raise fault(
                "PPF707",
                f"the first line of `{path}` is blank, and the column has no name",
                help="if the name stands below, say `source: {with: {skip_rows: 1}}`",
            )
        if record:
            return record, records.line_num
        blank = True
    raise empty(path)
