"""A CSV file as UTF-8 text whose quotes are in order, with two quotes for an escaped one."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.csv.spec import BACKSLASH, CsvSourceParams
from ppdm_flow.sources.faults import fault
from ppdm_flow.sources.gzipped import arrow_stream, binary

_CHUNK = (1 << 22) - (1 << 10)
_LONGEST = 1 << 30
_LINE_END = re.compile(rb"\r\n|\r|\n")
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
_MARK_DECODERS = ("utf-16", "utf-32", "utf-8-sig")
"""Encodings whose decoder takes the byte order mark away: another one behind it is a letter."""
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """The bytes of a file from ``begin`` to ``end``; ``begin`` 0 is with the header."""

    begin: int
    end: int


class CsvText(io.BufferedIOBase):
    """The text below the first ``lines`` lines of a file, or of a window of it, as a stream of bytes.

    Reading raises DataError where a quote or an escape is not in order, with the row's number: ``first`` is that of the
    first row, from 0. It raises UnicodeError where the file is not in its encoding, unless that is UTF-8.

    One byte order mark at the start of the file is no part of the text; others are letters. ``mark`` goes before
    the text, for a reader that takes one away.
    """

    def __init__(
        self,
        path: Path,
        params: CsvSourceParams,
        lines: int,
        window: Window | None = None,
        first: int = 0,
        width: int = 0,
        mark: bytes = b"",
    ) -> None:
        self._path, self._params = path, params
        self._lines, self._window = lines, window
        self._first = first
        self._width = width
        self._scanner = QuoteScanner(params)
        self._source = _Bytes(path, params.encoding, window)
        self._pieces = self._checked(_below(self._source.chunks(), lines))
        self._ready = mark

    def readable(self) -> bool:
        """As files have it."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read bytes: at least half of so many, but at the end."""
        read_all = size is None or size < 0
        ready, length = [self._ready], len(self._ready)
        while (read_all or length <= (size or 0) // 2) and (piece := next(self._pieces, None)) is not None:
            ready.append(piece)
            length += len(piece)
        data = b"".join(ready)
        self._ready = b"" if read_all else data[size:]
        return data if read_all or length <= (size or 0) else data[:size]

    read1 = read

    def close(self) -> None:
        """Close the file."""
        self._source.close()
        super().close()

    @property
    def backslashed(self) -> bool:
        """Whether quotes stand behind backslashes, which may be meant as escapes."""
        return self._scanner.backslashed

    def _checked(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the text as far as its quotes are in order. Raises DataError."""
        try:
            for chunk in self._held_back(chunks):
                self._scanner.scan(chunk)
                yield self._doubled(chunk)
            self._scanner.finish()
        except QuoteFault as error:
            self._explain(error)

    def _held_back(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield chunks that do not end with a quote or an escape, whose meaning the next byte says."""
        rest: list[bytes] = []
        for chunk in chunks:
            complete = chunk.rstrip(self._scanner.open_ended)
            if complete:
                yield b"".join((*rest, complete))
                rest = []
            rest.append(chunk[len(complete) :])
        if any(rest):
            yield b"".join(rest)

    def _doubled(self, chunk: bytes) -> bytes:
        """Return the text with two quotes for an escaped one, and without other escapes."""
        return chunk if self._params.doubles else without_escapes(chunk, self._params)

    def _explain(self, error: QuoteFault) -> NoReturn:
        row = self._first + self._row(error.offset + 1)
        raise quote_fault(error.code, self._path, row, self._params) from None

    def _row(self, size: int) -> int:
        """Return the number of the row, from 1, in which the text of so many bytes ends."""
        source = _Bytes(self._path, self._params.encoding, self._window)
        with contextlib.closing(source):
            text = _first_bytes(_below(source.chunks(), self._lines), size)
            return sum(bool(record) or self._width == 1 for record in _records(text, self._params, strict=False))


class _Bytes:
    """The bytes of a file, or of a window of it, in UTF-8 and without a byte order mark."""

    def __init__(self, path: Path, encoding: str, window: Window | None) -> None:
        self._stream: Any = arrow_stream(path)
        self._window = window
        self._encoding = encoding

    def chunks(self) -> Iterator[bytes]:
        """Yield them."""
        marked = self._window is None or self._window.begin == 0
        raw = self._raw()
        if self._encoding == "utf-8":
            yield next(raw, b"").removeprefix(codecs.BOM_UTF8 if marked else b"")
            yield from raw
            return
        decoder = codecs.getincrementaldecoder(self._encoding)()
        marked = marked and self._encoding not in _MARK_DECODERS
        for chunk in chain(raw, (b"",)):
            text = decoder.decode(chunk, final=not chunk)
            yield text.removeprefix(_MARK if marked else "").encode()
            marked = marked and not text

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _raw(self) -> Iterator[bytes]:
        left = None if self._window is None else self._window.end - self._window.begin
        if self._window is not None:
            self._stream.seek(self._window.begin)
        while chunk := self._stream.read(_CHUNK if left is None else min(left, _CHUNK)):
            left = None if left is None else left - len(chunk)
            yield chunk


def without_escapes(chunk: bytes, params: CsvSourceParams) -> bytes:
    """Return text with two quotes for an escaped one, and letters for other escaped signs."""
    escape, quote = str(params.escape).encode(), params.quote.encode()
    if escape not in chunk:
        return chunk
    signs = b"".join(re.escape(sign) for sign in (escape, quote, params.delimiter.encode(), b"\n", b"\r"))
    pattern = re.escape(escape) + b"([" + signs + b"])"
    return re.sub(pattern, lambda match: match[1] * 2 if match[1] == quote else match[1], chunk)


def is_valid_with_backslashes(path: Path, params: CsvSourceParams, lines: int, width: int) -> bool:
    """Whether a file is in order, too, if backslashes escape quotes: then nobody knows how it is meant."""
    changed = params.model_copy(update={"escape": BACKSLASH})
    scanner = QuoteScanner(changed, lenient=True)

    def checked() -> Iterator[bytes]:
        for chunk in _below(source.chunks(), lines):
            scanner.scan(chunk)
            yield without_escapes(chunk, changed)
        scanner.finish()

    source = _Bytes(path, params.encoding, None)
    with contextlib.closing(source):
        try:
            return all(len(record) == width for record in _records(checked(), changed, strict=True) if record)
        except (QuoteFault, csv.Error):
            return False


def quote_fault(code: str, path: Path, row: int, params: CsvSourceParams) -> DataError:
    """Say in which row a quote or an escape is not in order, and what may be meant."""
    place = f"row {row} of `{path}`" if row else f"`{path}`"
    if code == "PPF487":
        return fault(
            code,
            f"{place} has the escape `{params.escape}` where tools read different things: outside of quotes, or before"
            " a sign that needs none",
            help="have all texts written in quotes, with the escape before quotes and escapes only; `escape: none`"
            " takes it for a letter",
        )
    doubled = "a quote inside quotes is doubled"
    if params.doubles:
        advice = f'{doubled}; files of Spark, Hive and MySQL escape it: `with: {{escape: "\\\\"}}`'
    else:
        advice = f"a quote inside quotes stands behind `{params.escape}`; without `escape`, {doubled}"
    if code == "PPF486":
        text = f"{place}: after a quote that closes there is more text than a delimiter or a line end"
        if params.strip:
            text += ", or blanks stand before a quote that opens"
        return fault(code, text, help=f"{advice}; or another sign than `{params.delimiter}` is the delimiter")
    return fault("PPF716", f"{place} has a quote that is never closed", help=advice)


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
            except UnicodeError:  # UTF-16 and UTF-32 without a byte order mark
                return line
            if not chunk:
                return line


def _below(chunks: Iterator[bytes], lines: int) -> Iterator[bytes]:
    """Yield what stands below so many lines."""
    head = b""
    for chunk in chunks if lines else ():
        head += chunk
        at = 0
        while lines and (match := _LINE_END.search(head, at)) and match.end() < len(head):
            lines, at = lines - 1, match.end()
        head = head[at:]
        if not lines:
            break
    if not lines:
        yield head
    yield from chunks


def _first_bytes(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk[:size]
        size -= len(chunk)
        if size <= 0:
            return


def _records(chunks: Iterator[bytes], params: CsvSourceParams, *, strict: bool) -> Iterator[list[str]]:
    """Yield the records of a text as Python reads them, with doubled quotes or its own escape."""
    limit = csv.field_size_limit(_LONGEST)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts = (decoder.decode(chunk, final=not chunk) for chunk in chain(chunks, (b"",)))
    escape = None if params.doubles or strict else params.escape
    try:
        yield from csv.reader(
            _lines(texts), delimiter=params.delimiter, quotechar=params.quote, escapechar=escape, strict=strict
        )
    finally:
        csv.field_size_limit(limit)


def _lines(texts: Iterator[str]) -> Iterator[str]:
    """Yield lines with their ends: line feeds, returns, or both."""
    rest = ""
    for text in texts:
        lines = io.StringIO(rest + text, newline="").readlines()
        rest = lines.pop() if lines else ""
        yield from lines
    if rest:
        yield rest


_NEWLINE, _RETURN, _BLANK, _TAB = 10, 13, 32, 9


class QuoteFault(Exception):  # noqa: N818  # turned into a DataError where the row's number is known
    """A quote or an escape at byte ``offset`` is not in order; ``code`` says how."""

    def __init__(self, code: str, offset: int) -> None:
        super().__init__(code)
        self.code = code
        self.offset = offset


class QuoteScanner:
    """Follows the quotes through the chunks of a text in UTF-8, or in an encoding that has ASCII's bytes for them.

    A quote opens at the beginning of a cell only, and closes before a delimiter, a line end or the end. Inside of
    quotes two quotes are one letter, or an escape makes the next sign a letter. ``inside`` says whether a quote is open
    behind the last chunk, ``opened`` where. ``backslashed``: a quote inside of quotes stands behind a backslash that
    nobody declared: an odd number of them. ``lenient`` takes escapes wherever they stand.
    """

    def __init__(self, params: CsvSourceParams, *, lenient: bool = False) -> None:
        self.inside = False
        self.opened = 0
        self.offset = 0
        self.backslashed = False
        self._lenient = lenient
        self._last = _NEWLINE
        self._strip = params.strip
        self._quote, self._delimiter = ord(params.quote), ord(params.delimiter)
        self._escape = None if params.doubles else ord(str(params.escape))
        self._backslash = ord(BACKSLASH) if params.escape is None else None
        self._ends = np.zeros(256, bool)
        self._ends[[self._delimiter, _NEWLINE, _RETURN]] = True
        self._begins = self._ends.copy()
        if self._escape is None:  # two quotes are one letter
            self._ends[self._quote] = self._begins[self._quote] = True
            self._marks = re.compile(re.escape(params.quote).encode())
            self.open_ended = params.quote.encode()
        else:
            mark, quote = re.escape(str(params.escape)).encode(), re.escape(params.quote).encode()
            self._marks = re.compile(mark + b".?|" + quote, re.DOTALL)
            self.open_ended = f"{params.escape}{params.quote}N".encode()
        self._escapable = {self._escape, self._quote, self._delimiter, _NEWLINE, _RETURN}

    def scan(self, chunk: bytes) -> Places:
        """Return where quotes open and close in the next bytes, in turns; two that are one letter may be among them.

        The chunk must not end with a sign of ``open_ended`` unless it is the last one. Raises QuoteFault.
        """
        octets = np.frombuffer(chunk, np.uint8)
        quotes = np.flatnonzero(octets == self._quote)
        if (self._escape is not None and self._escape in chunk) or (
            len(quotes) and not self._is_in_order(octets, quotes)
        ):
            places = self._followed(chunk)
        else:
            places = quotes
            opening = quotes[0 if not self.inside else 1 :: 2]
            if len(opening):
                self.opened = self.offset + int(opening[-1])
            self.inside ^= bool(len(quotes) % 2)
        if len(chunk):
            self._last = chunk[-1]
        self.offset += len(chunk)
        return places

    def finish(self) -> None:
        """Raise QuoteFault where a quote is still open."""
        if self.inside:
            raise QuoteFault("PPF716", self.opened)

    def _is_in_order(self, octets: npt.NDArray[np.uint8], quotes: Places) -> bool:
        """Whether each quote stands at the beginning or the end of a cell, or beside another one."""
        before, after = octets.take(quotes - 1, mode="clip"), octets.take(quotes + 1, mode="clip")
        if quotes[0] == 0:
            before[0] = self._last
        if quotes[-1] == len(octets) - 1:
            after[-1] = _NEWLINE
        first = int(self.inside)
        for place in quotes[1 - first :: 2][before[1 - first :: 2] == self._backslash]:
            self._note_backslashes(octets, int(place))
        return bool(self._begins[before[first::2]].all() and self._ends[after[1 - first :: 2]].all())

    def _followed(self, chunk: bytes) -> Places:
        """Follow the quotes one by one: some are letters of cells without quotes, or escaped, or not in order."""
        places, at = [], 0
        while match := self._marks.search(chunk, at):
            place, at = match.span()
            after = chunk[at] if at < len(chunk) else _NEWLINE
            if chunk[place] == self._escape:
                self._check_escape(chunk, place)
            elif not self.inside:
                if self._begins_cell(chunk, place):
                    self.inside, self.opened = True, self.offset + place
                    places.append(place)
            elif after == self._quote and self._escape is None:
                at += 1
            elif not self._ends[after]:
                raise QuoteFault("PPF486", self.offset + place)
            else:
                self.inside = False
                places.append(place)
            self._note_backslashes(chunk, place)
        return np.array(places, np.int64)

    def _note_backslashes(self, chunk: bytes | npt.NDArray[np.uint8], place: int) -> None:
        """Note a quote behind an odd number of backslashes: two of them may be one letter."""
        start = place
        while start and chunk[start - 1] == self._backslash:
            start -= 1
        self.backslashed = self.backslashed or (place - start) % 2 == 1

    def _begins_cell(self, chunk: bytes, place: int) -> bool:
        """Whether a quote outside of quotes is the first sign of a cell. Raises QuoteFault where blanks hide that."""
        before = chunk[place - 1] if place else self._last
        if self._strip and before in (_BLANK, _TAB) and before != self._delimiter:
            bare = chunk[:place].rstrip(b" \t")
            if not bare or self._begins[bare[-1]]:
                raise QuoteFault("PPF486", self.offset + place)
        return before in (self._delimiter, _NEWLINE, _RETURN)

    def _check_escape(self, chunk: bytes, place: int) -> None:
        """Raise QuoteFault where tools differ in what an escape means."""
        follows = chunk[place + 1 : place + 3]
        if self._lenient or (self.inside and follows and follows[0] in self._escapable):
            return
        alone = not self.inside and follows[:1] == b"N" and (len(follows) == 1 or self._ends[follows[1]])
        if not (alone and self._begins_cell(chunk, place)):
            raise QuoteFault("PPF487", self.offset + place)
