"""What Arrow does not say of a file: whether every quote is closed, and where it stops being text."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path
from typing import Any

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.csv.spec import CsvParams
from ppdm_flow.sources.faults import fault
from ppdm_flow.sources.gzipped import binary

_LONGEST = 1 << 30
_WIDE = ("utf-16", "utf-32", "utf_16", "utf_32")


class QuoteCounter:
    """An input stream that counts its quotes on the way: an odd number is a reason to look closer."""

    def __init__(self, stream: Any, params: CsvParams) -> None:
        self._stream = stream
        self._quote = params.quote.encode()
        self._wide = params.encoding.startswith(_WIDE)
        self._count = 0

    @property
    def suspicious(self) -> bool:
        """Whether a quote may be open at the end; always for encodings in which a quote is no single byte."""
        return self._wide or self._count % 2 == 1

    @property
    def closed(self) -> bool:
        """As files have it."""
        return bool(self._stream.closed)

    def read(self, size: int = -1) -> bytes:
        """Read bytes."""
        data: bytes = self._stream.read(None if size < 0 else size)
        self._count += data.count(self._quote)
        return data

    def readable(self) -> bool:
        """As files have it."""
        return True

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def check_closed(path: Path, params: CsvParams, lines: int) -> None:
    """Read the file once more, slowly. Raises DataError, with the row, where a quote is open at the end.

    ``lines`` are those before the first row.
    """
    limit = csv.field_size_limit(_LONGEST)
    row = 0
    try:
        with binary(path) as file, io.TextIOWrapper(file, params.encoding, "replace", newline="") as text:
            for _ in range(lines):
                text.readline()
            records = csv.reader(text, delimiter=params.delimiter, quotechar=params.quote, strict=True)
            for record in records:
                row += bool(record)
    except csv.Error:
        raise open_quote(row) from None
    finally:
        csv.field_size_limit(limit)


def open_quote(row: int) -> DataError:
    """Say after which row a quote is open."""
    return fault(
        "PPF716",
        f"after row {row} a quote is not in order: it is never closed, or text follows it",
        help="a quote inside quotes is doubled",
    )


_CHUNK = 1 << 20


def undecodable_line(path: Path, encoding: str) -> int:
    """Return the number, from 1, of the first line with bytes that ``encoding`` does not know."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with binary(path) as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                line += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(b"\n")
            if not chunk:
                return line
