"""Where a CSV file can be cut: at the end of a line that is outside of quotes, as far as its quotes are in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.records import dataclass
from ppdm_flow.sources.csv.spec import CsvParams

_CHUNK = 1 << 24
_NEWLINE, _RETURN = 10, 13
_ASCII = ("utf-8", "utf_8", "ascii", "us-ascii", "latin-1", "latin_1", "iso-8859-1", "cp1252", "windows-1252")
"""Encodings in which no byte of a letter looks like a line end, a quote or a delimiter."""

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Window:
    """The bytes of a file from ``begin`` to ``end``; ``begin`` 0 is with the header."""

    begin: int
    end: int


def windows(path: Path, params: CsvParams, lines: int, size: int) -> list[Window] | None:
    """Return windows of about ``size`` bytes that end where a record does; None where the file has to stay whole.

    The first one has the ``lines`` before the first row and as many bytes behind them.

    That is so for encodings of several bytes a letter, for line ends without a newline, and where a quote opens or
    closes in the middle of a cell: then which line ends are inside of quotes is a matter of taste.
    """
    if params.encoding.lower() not in _ASCII:
        return None
    scan = _Scan(ord(params.quote), ord(params.delimiter), size)
    with path.open("rb") as file:
        for _ in range(lines):
            file.readline()
        scan.earliest = file.tell()
        file.seek(0)
        while chunk := file.read(_CHUNK):
            if not scan.look(np.frombuffer(chunk, dtype=np.uint8)):
                return None
    return scan.windows()


@dataclass(slots=True)
class _Scan:
    """Goes through a file: ``inside`` says whether quotes are open, ``last`` is the last byte so far."""

    quote: int
    delimiter: int
    size: int
    inside: bool = False
    last: int = _NEWLINE
    read: int = 0
    cuts: list[int] = field(default_factory=lambda: [0])
    closed_at_end: bool = False
    earliest: int = 0

    def look(self, chunk: Bytes) -> bool:
        """Take in the next bytes; False where a quote stands where it tells nothing."""
        quotes = np.flatnonzero(chunk == self.quote)
        if len(quotes) and not self._in_order(chunk, quotes):
            return False
        if self.closed_at_end and len(chunk) and not self._may_follow(int(chunk[0])):
            return False
        self._cut(chunk, quotes)
        if len(quotes):
            self.inside ^= bool(len(quotes) % 2)
            self.closed_at_end = not self.inside and int(quotes[-1]) == len(chunk) - 1
        elif len(chunk):
            self.closed_at_end = False
        self.last = int(chunk[-1])
        self.read += len(chunk)
        return True

    def windows(self) -> list[Window]:
        """Return the windows of the whole file."""
        ends = [*self.cuts[1:], self.read] if self.cuts[-1] < self.read else self.cuts[1:]
        return [Window(begin, end) for begin, end in zip(self.cuts, ends, strict=False)]

    def _may_follow(self, byte: int) -> bool:
        """Whether a byte may follow a quote that closes; another quote makes two of them one letter."""
        return byte in (self.delimiter, _NEWLINE, _RETURN, self.quote)

    def _in_order(self, chunk: Bytes, quotes: npt.NDArray[np.int64]) -> bool:
        """Whether each quote that opens begins a cell, and each that closes ends one."""
        before = np.where(quotes > 0, chunk[np.maximum(quotes - 1, 0)], self.last)
        opens = (np.arange(len(quotes)) + self.inside) % 2 == 0
        begins = np.isin(before, (self.delimiter, _NEWLINE, _RETURN, self.quote))
        follows = quotes[~opens]
        follows = follows[follows + 1 < len(chunk)]  # what follows the last byte is in the next chunk
        ends = np.isin(chunk[follows + 1], (self.delimiter, _NEWLINE, _RETURN, self.quote))
        return bool(begins[opens].all() and ends.all())

    def _cut(self, chunk: Bytes, quotes: npt.NDArray[np.int64]) -> None:
        """Note the first line end outside of quotes behind each ``size`` bytes."""
        wanted = self._wanted()
        while wanted < len(chunk):
            start = max(0, wanted)
            for at in _newlines(chunk, start):
                if (int(np.searchsorted(quotes, at)) + self.inside) % 2 == 0:
                    self.cuts.append(self.read + at + 1)
                    break
            else:
                return
            wanted = self._wanted()

    def _wanted(self) -> int:
        """Return where in the next bytes a cut may be."""
        return max(self.cuts[-1], self.earliest) + self.size - self.read


def _newlines(chunk: Bytes, start: int) -> Iterator[int]:
    """Yield the places of newlines from ``start`` on, a stretch at a time."""
    step = 1 << 16
    for begin in range(start, len(chunk), step):
        yield from (int(at) + begin for at in np.flatnonzero(chunk[begin : begin + step] == _NEWLINE))
