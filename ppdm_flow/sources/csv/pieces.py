"""Where a CSV file can be cut: at the end of a line that is outside of quotes, as far as its quotes are in order."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ppdm_flow.sources.csv.quotes import Places, QuoteFault, QuoteScanner
from ppdm_flow.sources.csv.spec import CsvSourceParams
from ppdm_flow.sources.csv.text import Window

_CHUNK = 1 << 24
_NEWLINE = 10
_ASCII = ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")
"""Encodings in which no byte of a letter looks like a line end, a quote or a delimiter."""

Bytes = npt.NDArray[np.uint8]


def windows(path: Path, params: CsvSourceParams, lines: int, size: int) -> list[Window] | None:
    """Return windows of about ``size`` bytes that end where a record does; None where the file has to stay whole.

    The first one has the ``lines`` before the first row and as many bytes behind them.

    That is so for encodings of several bytes a letter, for line ends without a newline, and where quotes are not in
    order or may be escaped, which the reader of the whole file explains.
    """
    if params.encoding.lower() not in _ASCII:
        return None
    scanner = QuoteScanner(params)
    cuts = [0]
    with path.open("rb") as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        for _ in range(lines):
            file.readline()
        earliest = begin = file.tell()
        rest = b""
        while chunk := file.read(_CHUNK):
            whole = (rest + chunk).rstrip(scanner.open_ended)
            rest = (rest + chunk)[len(whole) :]
            inside = scanner.inside
            try:
                quotes = scanner.scan(whole)
            except QuoteFault:
                return None
            while (wanted := max(cuts[-1], earliest) + size - begin) < len(whole):
                cut = _line_end(whole, max(0, wanted), quotes, inside=inside)
                if cut is None:
                    break
                cuts.append(begin + cut)
            begin += len(whole)
    if scanner.inside or scanner.backslashed or params.escape:
        return None
    total = begin + len(rest)
    ends = [*cuts[1:], total] if cuts[-1] < total else cuts[1:]
    return [Window(first, last) for first, last in zip(cuts, ends, strict=False)]


def _line_end(chunk: bytes, start: int, quotes: Places, *, inside: bool) -> int | None:
    """Return what follows the first line end outside of quotes from ``start`` on."""
    for at in _newlines(np.frombuffer(chunk, np.uint8), start):
        if (int(np.searchsorted(quotes, at)) + inside) % 2 == 0:
            return at + 1
    return None


def _newlines(chunk: Bytes, start: int) -> Iterator[int]:
    """Yield the places of newlines from ``start`` on, a stretch at a time."""
    step = 1 << 16
    for begin in range(start, len(chunk), step):
        yield from (int(at) + begin for at in np.flatnonzero(chunk[begin : begin + step] == _NEWLINE))
