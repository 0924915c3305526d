"""CSV by Arrow's streaming reader: every column a dictionary of texts, nothing interpreted."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from ppdm_flow.core.errors import DataError
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sources.csv.spec import CsvSourceParams
from ppdm_flow.sources.csv.text import (
    CsvText,
    QuoteFault,
    QuoteScanner,
    Window,
    is_valid_with_backslashes,
    undecodable_line,
)
from ppdm_flow.sources.faults import damaged, distinct, empty, fault, nul, undecodable, unreadable
from ppdm_flow.sources.gzipped import beside, is_gzip
from ppdm_flow.tables.formulas import unescaped
from ppdm_flow.tables.numeric.column import UNREADABLE

_BLOCK = 1 << 22
_ROW_BYTES = 64
"""Bytes that a row is taken to have where a file is cut into pieces of so many rows."""
_LARGEST_BLOCK = 1 << 29
_TEXTS = pa.dictionary(pa.int32(), pa.string())
_RAGGED = re.compile(r"CSV parse error: Row #(\d+): Expected (\d+) columns, got (\d+)")
_INVALID = re.compile(r"In CSV column #\d+: Row #(\d+): CSV conversion error")
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


class _Straddling(Exception):  # noqa: N818  # a signal, not an error
    """A record is longer than a block."""


class CsvSource:
    """One CSV file, or what is in the ``window`` of it, whose first row has the number ``first``."""

    def __init__(self, params: CsvSourceParams, path: Path, window: Window | None = None, first: int = 0) -> None:
        self.params = params
        self.path = path
        self._window = window
        self._first = first
        self._header: CsvHeader | None = None
        self._given: tuple[str, ...] | None = None
        self._may_repeat = params.header  # a row may have the names of the columns in its cells

    @property
    def header(self) -> CsvHeader:
        """The names and where the data begins."""
        if self._header is None:
            self._header = read_header(self.path, self.params)
        return self._header

    def names(self) -> tuple[str, ...]:
        """Return the column names. Raises DataError where the file cannot be read, or where two names are the same."""
        names = self.header.names
        if self._escaped:
            names = tuple(unescaped(pa.array(names, pa.string())).to_pylist())
        return distinct(self.path, names)

    def name_columns(self, names: Sequence[str]) -> None:
        """Take the names that the policy gives the columns: a row of them is a header that nobody expected."""
        self._given, self._may_repeat = tuple(names), True

    @property
    def _titles(self) -> tuple[str, ...]:
        """What a header would say, in the order of columns."""
        names = self.names()
        return names if self._given is None else self._given[: len(names)]

    def column_types(self) -> Mapping[str, str]:
        """Return that every column has texts."""
        return dict.fromkeys(self.names(), "text")

    @property
    def _escaped(self) -> bool:
        return self.params.formulas == "escape"

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows in blocks of about 4 MB. Raises DataError with the row, counted from 1 below the header."""
        return self.typed_batches(columns, {})

    def typed_batches(self, columns: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; columns in ``types`` as plain texts, numbers with a decimal point and no separators."""
        names = self.names()
        places = [names.index(c) for c in columns]
        numeric = {i: types[c] for i, c in enumerate(columns) if c in types}
        block = _BLOCK
        done = 0
        while True:
            try:
                for batch in self._attempt(places, columns, numeric, done, block=block):
                    done += batch.num_rows
                    yield batch
            except _Straddling:
                block *= 4
                if block > _LARGEST_BLOCK:
                    raise self._endless(done) from None
            else:
                return

    def pieces(self, rows: int) -> list[CsvPiece]:
        """Return readers of pieces that end where a record does. Raises DataError."""
        cut = None if is_gzip(self.path) else windows(self.path, self.params, self.header.lines, rows * _ROW_BYTES)
        every: list[Window | None] = [None] if cut is None else [*cut]
        return [CsvPiece(self.params, self.path, window, self._given) for window in every]

    def beside(self) -> Iterator[Finding]:
        """Yield what the file holds beside its cells."""
        return beside(self.path)

    @property
    def _skipped(self) -> int:
        """Lines before the first row."""
        return self.header.lines if self._window is None or self._window.begin == 0 else 0

    def _stream(self) -> CsvText:
        """Return the text of the rows. Arrow takes away one byte order mark, so one goes before them."""
        width = len(self.header.names)
        return CsvText(
            self.path, self.params, self._skipped, self._window, self._first, width=width, mark=codecs.BOM_UTF8
        )

    def _attempt(
        self, places: list[int], columns: Sequence[str], numeric: Mapping[int, AttributeType], skip: int, *, block: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows from number ``skip`` on."""
        start = 0
        try:
            with contextlib.closing(self._stream()) as stream:
                for batch in self._reader(stream, places, block, numeric, threads=True):
                    begin, start = start, start + batch.num_rows
                    if start > skip:
                        fresh = batch.slice(max(0, skip - begin))
                        yield self._texts(fresh, columns, numeric, self._first + max(skip, begin))
            if stream.backslashed and self._window is None:
                self._check_backslashes()
        except pa.ArrowInvalid as error:
            self._explain(str(error), block, places)
        except UnicodeError:
            raise self._undecodable() from None
        except OSError as error:
            raise (damaged(self.path) if error.errno is None else unreadable(self.path, error)) from None

    def _reader(
        self, stream: Any, places: list[int], block: int, plain: Collection[int] = (), *, threads: bool
    ) -> Iterator[pa.RecordBatch]:
        names = [str(i) for i in range(len(self.header.names))]  # two may be the same, which `names` says
        types = {**dict.fromkeys(names, _TEXTS), **{names[places[i]]: pa.string() for i in plain}}
        options = self.params
        try:
            reader = pcsv.open_csv(
                stream,
                read_options=pcsv.ReadOptions(
                    use_threads=threads,
                    block_size=block,
                    column_names=names,
                ),
                parse_options=pcsv.ParseOptions(
                    delimiter=options.delimiter,
                    quote_char=options.quote,
                    newlines_in_values=True,
                    ignore_empty_lines=len(names) > 1,
                ),
                convert_options=pcsv.ConvertOptions(
                    column_types=types,
                    include_columns=[str(p) for p in places] or names[:1],
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if _has_no_rows(str(error)):
                return
            raise
        yield from reader

    def _texts(
        self, batch: pa.RecordBatch, columns: Sequence[str], numeric: Mapping[int, AttributeType], first_row: int
    ) -> pa.RecordBatch:
        if not columns:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
        arrays = list(batch.columns)
        coded = [i for i in range(len(arrays)) if i not in numeric]
        for i in coded:
            array = stripped(arrays[i]) if self.params.strip else arrays[i]
            arrays[i] = without_escapes(array) if self._escaped else array
        checked([arrays[i] for i in coded], first_row)  # no number has a NUL byte
        for i, kind in numeric.items():
            arrays[i] = plain_numbers(arrays[i], kind, self.params)
        if self._may_repeat:
            self._check_header(arrays, columns, first_row)
        return pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _check_header(self, arrays: Sequence[pa.Array], columns: Sequence[str], first_row: int) -> None:
        """Raise DataError where a row has the names of all columns in its cells, for any selection of columns.

        Without a header, and behind skipped lines, only the first row can be a header: all others are rows.
        """
        names = self.names()
        rows = first_row + header_rows(arrays, self._titles)
        if self._given is not None and self.params.skip_rows:
            rows = rows[rows == 0]
        if not len(rows):
            return
        if len(columns) < len(names):
            reread = CsvSource(self.params, self.path, self._window, self._first)
            if self._given is not None:
                reread.name_columns(self._given)
            for _ in reread.batches(names):
                pass
            self._may_repeat = False
        elif len(names) > 1 or (self._given is not None and rows[0] == 0):
            raise self._header_fault(int(rows[0]))

    def _header_fault(self, row: int) -> DataError:
        what = "the header once more" if self._given is None else "a header"
        advice = "several files may stand one after the other: take the line out"
        if self._given is None:
            advice += ". If it is a row, leave the first line out and name the columns:"
            advice += " `with: {skip_rows: 1}`, `columns: […]`"
        elif not row:
            advice = f"`with: {{skip_rows: {self.params.skip_rows + 1}}}` leaves it out; without `columns` it is read"
        return fault("PPF488", f"row {row + 1} of `{self.path}` is {what}", help=advice)

    def _check_backslashes(self) -> None:
        """Raise DataError where the file could be read in two ways."""
        if is_valid_with_backslashes(self.path, self.params, self.header.lines, len(self.header.names)):
            raise fault(
                "PPF489",
                f"`{self.path}` can be read in two ways: with backslashes as letters, and as escapes of quotes",
                help='say which one is meant: `with: {escape: none}`, or `with: {escape: "\\"}` as Spark, Hive and'
                " MySQL write",
            )

    def _explain(self, message: str, block: int, places: list[int]) -> NoReturn:
        """Raise our own error for Arrow's, whose text quotes the row."""
        if "straddling" in message:
            raise _Straddling from None
        raise self._located(block, places) from None

    def _located(self, block: int, places: list[int]) -> DataError:
        """Read again on one thread: only then does Arrow know the row's number."""
        try:
            with contextlib.closing(self._stream()) as stream:
                for _ in self._reader(stream, places, block, threads=False):
                    pass
        except pa.ArrowInvalid as error:
            return self._translated(str(error))
        return fault("PPF716", f"`{self.path}` cannot be read as CSV")

    def _translated(self, message: str) -> DataError:
        ragged = _RAGGED.match(message)
        if ragged:
            row, expected, got = (int(g) for g in ragged.groups())
            return fault(
                "PPF703",
                f"row {row + self._first} has {got} cells where there should be {expected}",
                help="rows count from 1 below the header; an unbalanced quote or a delimiter in a value does this",
            )
        invalid = _INVALID.match(message)
        if invalid:
            return undecodable(f"row {int(invalid.group(1)) + self._first}", self.params.encoding)
        return fault("PPF716", f"`{self.path}` cannot be read as CSV", help="its quotes may not be in order")

    def _undecodable(self) -> DataError:
        line = undecodable_line(self.path, self.params.encoding)
        return undecodable(f"line {line}", self.params.encoding)

    def _endless(self, rows: int) -> DataError:
        return fault(
            "PPF716",
            f"after row {rows + self._first} there is a quote that is never closed, or a cell of more than"
            f" {_LARGEST_BLOCK >> 20} MB",
        )


@dataclass(frozen=True, slots=True)
class CsvPiece:
    """What is in a window of a file, or the whole file; its rows are known when it was read."""

    params: CsvSourceParams
    path: Path
    window: Window | None
    given: tuple[str, ...] | None = None
    rows: None = None

    @property
    def begins(self) -> bool:
        """Whether it has the first row of the file."""
        return self.window is None or self.window.begin == 0

    def starting_at(self, row: int) -> CsvSource:
        """Return the reader of the window."""
        source = CsvSource(self.params, self.path, self.window, row)
        if self.given is not None:
            source.name_columns(self.given)
        return source


def _has_no_rows(message: str) -> bool:
    """Whether Arrow says that nothing stands below the header."""
    return "Empty CSV file" in message or "Could not skip initial" in message


# The first record of a CSV file: its names, or its width, and how many lines it takes.


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


# Where a CSV file can be cut: at the end of a line that is outside of quotes, as far as its quotes are in order.


_CHUNK = 1 << 24
_NEWLINE = 10
_ASCII = ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")
"""Encodings in which no byte of a letter looks like a line end, a quote or a delimiter."""


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
            complete = (rest + chunk).rstrip(scanner.open_ended)
            rest = (rest + chunk)[len(complete) :]
            inside = scanner.inside
            try:
                quotes = scanner.scan(complete)
            except QuoteFault:
                return None
            while (wanted := max(cuts[-1], earliest) + size - begin) < len(complete):
                cut = _line_end(complete, max(0, wanted), quotes, inside=inside)
                if cut is None:
                    break
                cuts.append(begin + cut)
            begin += len(complete)
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


# What is done to cells while they are read: on their dictionaries, so once for each distinct text of a block.


def stripped(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the cells without blanks at both ends; what is empty then is missing, as it is without blanks."""
    trimmed = pc.utf8_trim_whitespace(array.dictionary)
    blank = pc.and_(pc.equal(trimmed, ""), pc.not_equal(array.dictionary, ""))
    return _recoded(array, pc.if_else(blank, pa.scalar(None, pa.string()), trimmed))


def without_escapes(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the cells as they were before formulas were escaped."""
    return _recoded(array, unescaped(array.dictionary))


def _recoded(array: pa.DictionaryArray, texts: pa.StringArray) -> pa.DictionaryArray:
    """Return the cells with other texts for those of their dictionary, each once."""
    if texts.equals(array.dictionary):
        return array
    recoded = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(recoded.indices.take(array.indices), recoded.dictionary)


def checked(arrays: Sequence[pa.DictionaryArray], first_row: int) -> None:
    """Raise DataError where a cell holds a NUL byte; ``first_row`` is the number of the first row, from 0."""
    for array in arrays:
        bad = pc.match_substring(array.dictionary, "\0")
        if len(bad) and pc.any(bad).as_py():
            hit = pc.take(bad, array.indices).fill_null(False)
            raise nul(f"row {first_row + pc.index(hit, True).as_py() + 1}")


_AROUND_NAMES = " \t\N{NO-BREAK SPACE}\N{ZERO WIDTH NO-BREAK SPACE}\"'"
"""What a name may have around it where files were put together: a byte order mark keeps a quote from opening."""


def header_rows(arrays: Sequence[pa.Array], names: Sequence[str]) -> Places:
    """Return the places of rows whose cells are ``names``, in any order and letter case.

    ``names`` are those of all columns; with fewer arrays each cell has to be a name. Where each name is a value of
    other rows, too, as in surveys whose columns hold their own name, such rows are data.
    """
    wanted = _bare(pa.array(names, pa.string()))
    hits, columns = None, []
    for array in sorted(arrays, key=_distinct_count):  # few texts are searched soon
        codes = pc.index_in(_bare(array.dictionary if pa.types.is_dictionary(array.type) else array), wanted)
        if codes.null_count == len(codes):
            return np.zeros(0, np.int64)
        columns.append(codes.take(array.indices) if pa.types.is_dictionary(array.type) else codes)
        is_name = columns[-1].is_valid().to_numpy(zero_copy_only=False)
        hits = is_name if hits is None else hits & is_name
    if hits is None or not hits.any():
        return np.zeros(0, np.int64)
    places = np.flatnonzero(hits)
    if len(arrays) == len(names):
        cells = np.sort([column.take(pa.array(places)).to_numpy(zero_copy_only=False) for column in columns], axis=0)
        expected = np.sort(pc.index_in(wanted, wanted).to_numpy(zero_copy_only=False))
        places = places[(cells == expected[:, None]).all(axis=0)]
    alone = any(len(column) - column.null_count == len(places) for column in columns)
    return places if alone else np.zeros(0, np.int64)


def _bare(texts: pa.StringArray) -> pa.StringArray:
    return pc.utf8_lower(pc.utf8_trim(texts, characters=_AROUND_NAMES))


def _distinct_count(array: pa.Array) -> int:
    return len(array.dictionary if pa.types.is_dictionary(array.type) else array)


# Numbers of CSV as typed columns read them: without blanks, with a decimal point and no thousands separators.


_SPACES = " \u00a0\u202f"
"""A space between groups of digits may be one that does not break lines."""


def plain_numbers(array: pa.StringArray, kind: AttributeType, params: CsvSourceParams) -> pa.StringArray:
    """Return the texts of a column of numbers or moments in the spelling that is read everywhere.

    A text of digits whose separators do not stand where the parameters say gets the mark `UNREADABLE`: ``1.5`` is not
    15.
    """
    texts = _stripped(array) if params.strip else array
    if kind.is_time:
        return _iso_texts(texts, kind, params.dates) if params.dates else texts
    if params.decimal == "." and not params.thousands:
        return texts
    return _respelled(texts, params.decimal, params.thousands)


def _iso_texts(texts: pa.StringArray, kind: AttributeType, forms: Sequence[str]) -> pa.StringArray:
    """Return dates that are written in one of the forms as ISO 8601 has them, and all other texts as they are."""
    coded = pc.dictionary_encode(texts)
    plain = [_iso(text, kind, forms) for text in coded.dictionary.to_pylist()]
    return pc.take(pa.array(plain, pa.string()), coded.indices)


def _iso(text: str, kind: AttributeType, forms: Sequence[str]) -> str:
    for form in forms:
        try:
            moment = datetime.strptime(text.strip(), form)  # noqa: DTZ007  # as the clock of the file shows it
        except ValueError:
            continue
        if kind is AttributeType.TIMESTAMP:
            return moment.isoformat()
        return moment.date().isoformat() if moment.time() == time.min else text
    return text


def _stripped(array: pa.StringArray) -> pa.StringArray:
    trimmed = pc.utf8_trim_whitespace(array)
    blank = pc.and_(pc.equal(trimmed, ""), pc.not_equal(array, ""))
    return pc.if_else(blank, pa.scalar(None, pa.string()), trimmed)


def _respelled(texts: pa.StringArray, decimal: str, thousands: str) -> pa.StringArray:
    group = f"[{_SPACES}]" if thousands == " " else re.escape(thousands)
    marks = re.escape(f"{decimal}{thousands}.,") + (_SPACES if thousands == " " else "")
    of_digits = pc.match_substring_regex(texts, f"^[+-]?[0-9{marks}]+([eE][+-]?[0-9]+)?$")
    digits = f"([0-9]+|[0-9]{{1,3}}({group}[0-9]{{3}})+)" if thousands else "[0-9]+"
    point = re.escape(decimal)
    valid = pc.match_substring_regex(texts, f"^[+-]?({digits}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?$")
    plain = pc.replace_substring_regex(texts, group, "") if thousands else texts
    plain = pc.replace_substring(plain, decimal, ".")
    unreadable = pc.binary_join_element_wise(UNREADABLE, texts, "")
    return pc.if_else(valid, plain, pc.if_else(of_digits, unreadable, texts))
