"""The first record of a CSV file: its names, or its width, and how many lines it takes."""

from __future__ import annotations

import csv
import io
import zlib
from pathlib import Path
from typing import BinaryIO

from ppdm_flow.core.records import dataclass
from ppdm_flow.sources.csv.spec import CsvParams
from ppdm_flow.sources.faults import damaged, empty, fault, nul, undecodable, unreadable
from ppdm_flow.sources.gzipped import binary

_LONGEST = 1 << 28


@dataclass(frozen=True, slots=True)
class Header:
    """``names`` of the columns; ``lines`` to skip before the first row of data."""

    names: tuple[str, ...]
    lines: int


def read_header(path: Path, params: CsvParams) -> Header:
    """Read the first record. Without a header the columns are named by position. Raises DataError."""
    record, consumed = _first_record(path, params)
    if not params.header:
        return Header(tuple(f"column_{i}" for i in range(1, len(record) + 1)), params.skip_rows)
    names = tuple(name.strip() if params.strip else name for name in record)
    if any("\N{REPLACEMENT CHARACTER}" in name for name in names):
        raise undecodable(f"the header of `{path}`", params.encoding)
    if any("\0" in name for name in names):
        raise nul(f"the header of `{path}`")
    return Header(names, params.skip_rows + consumed)


def _first_record(path: Path, params: CsvParams) -> tuple[list[str], int]:
    limit = csv.field_size_limit(_LONGEST)
    try:
        with binary(path) as file, _text(file, params.encoding) as text:
            return _read(path, text, params)
    except (EOFError, zlib.error):
        raise damaged(path) from None
    except csv.Error:
        raise fault("PPF716", f"`{path}`: the quotes of the first record are not in order") from None
    except OSError as error:
        raise (damaged(path) if error.errno is None else unreadable(path, error)) from None
    finally:
        csv.field_size_limit(limit)


def _read(path: Path, text: io.TextIOWrapper, params: CsvParams) -> tuple[list[str], int]:
    for _ in range(params.skip_rows):
        if not text.readline():
            raise empty(path)
    records = csv.reader(text, delimiter=params.delimiter, quotechar=params.quote, strict=True)
    for record in records:
        if record:
            return record, records.line_num
    raise empty(path)


def _text(file: BinaryIO, encoding: str) -> io.TextIOWrapper:
    """Open as text; a byte order mark is no letter of the first name. Rows below are checked by the reader itself."""
    signed = "utf-8-sig" if encoding == "utf-8" else encoding
    return io.TextIOWrapper(file, encoding=signed, newline="", errors="replace")
