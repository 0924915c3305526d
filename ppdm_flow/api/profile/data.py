"""Any data file as coded columns: delimiter, encoding and header are guessed from its beginning."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from ppdm_flow.api.arguments import reader_options
from ppdm_flow.api.profile.sets import has_repeated, merging, set_lines
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.file_sets import file_set, first_file, is_file_set, telling_name
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.opening.opening import open_source
from ppdm_flow.engine.streams.coding import encode_texts
from ppdm_flow.mining.profiling.sets import SetFacts, set_facts
from ppdm_flow.mining.profiling.table import Coded, Profile
from ppdm_flow.mining.profiling.table import profile as measured
from ppdm_flow.mining.profiling.types import (
    DATE_MARKS,
    MARKS,
    NUMERIC_MARKS,
    date_form,
    dates_but,
    iso_dates,
    number_spelling,
    numeric_but,
    type_of,
)
from ppdm_flow.mining.profiling.words import named, of_ids
from ppdm_flow.plan.definition import SourceNode
from ppdm_flow.plan.formats import handling, implied, inferred
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.storage import ColumnMeaning, DescribedSource
from ppdm_flow.tables.column import SUPPRESSED_TEXT
from ppdm_flow.tables.sets import Baskets, stacked
from ppdm_flow.tables.sets.arrow import KEY, from_arrow, holds_sets

FORMATS = ("csv", "baskets", "transactions", "excel", "jsonl", "parquet", "sas", "spss", "stata")
"""Formats that are read without being told more."""
_TEXTS_OF_SETS = ("baskets", "transactions")
_HEAD = 1 << 16
_RECORDS = 50
_DELIMITERS = ",;\t| "
_BACKSLASH = "\\"
_DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes", " ": "spaces"}
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How a file is written: its format, the reader's options where they are not the default, names if it has none.

    ``header`` says what the first line of a text file is; None for other formats, which have names.
    """

    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    header: FirstLine | None = None

    def describe_format(self, name: str) -> str:
        """Say how a text file is read: its delimiter, encoding and escape; nothing of other formats."""
        kind = self.format or inferred("sources", name)
        if kind in _TEXTS_OF_SETS:
            parted = _DELIMITER_NAMES.get(self.options.get("delimiter", ","), "a sign")
            return f"a set of items in each line, parted by {'blanks' if kind == 'transactions' else parted}"
        if kind == "long":
            return f"a row for each `{self.options['id']}` and `{self.options['item']}`: a set of all items of an id"
        if kind != "csv":
            return ""
        options = self.node(name).options
        delimiter = str(options.get("delimiter", ","))
        escape = options.get("escape", "none")
        quotes = (
            "two quotes for one inside of quotes" if escape == "none" else f"`{escape}` before quotes inside of quotes"
        )
        stripped = ", blanks around cells taken off" if options.get("strip") else ""
        stripped += ", numbers with a decimal comma" if options.get("decimal") == "comma" else ""
        parted = _DELIMITER_NAMES.get(delimiter, f"`{delimiter}`")
        return f"cells parted by {parted}, encoding {options.get('encoding', 'utf-8')}, {quotes}{stripped}"

    def node(self, name: str) -> SourceNode:
        """Return a source that reads a file of that name."""
        options = {**implied("sources", self.format or inferred("sources", name), name), **self.options}
        return SourceNode(None, self.format, options, self.columns, ("",), False, "drop", (), ())


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How a text file is written, as far as a user says it; what is None is found out.

    ``columns`` are the names of the columns; the first line is a row then, unless ``header`` is true. ``missing`` are
    the texts that mean missing values, beside empty cells. ``format`` is that of any file.
    """

    header: bool | None = None
    delimiter: str | None = None
    encoding: str | None = None
    escape: str | None = None
    columns: tuple[str, ...] | None = None
    missing: tuple[str, ...] | None = None
    format: str | None = None

    def checked(self) -> TextOptions:
        """Return the options as the reader has them. Raises UsageError where it does not take one."""
        if self.format is not None and self.format not in FORMATS:
            text = f"`--input-format {self.format}` is no format that a profile is made of"
            hint = did_you_mean(self.format, FORMATS)
            raise UsageError(Diagnostic("PPF120", text, hint=hint, help=f"it is {_known()}"))
        given = {"delimiter": self.delimiter, "encoding": self.encoding, "escape": self.escape}
        taken = reader_options("csv", {name: text for name, text in given.items() if text is not None}, "--{name}")
        return replace(self, **taken)


def _known() -> str:
    names = [f"`{name}`" for name in FORMATS]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def look(data: Path, said: TextOptions = TextOptions()) -> FileLayout:  # it never changes
    """Look at a text file; other formats say themselves how they are written.

    Raises DataError where neither the file's name nor an option says the format.
    """
    name = telling_name(data)
    kind = said.format or inferred("sources", name)
    if kind is None:
        text = f"cannot infer the format of `{name}` from its extension"
        raise DataError(Diagnostic("PPF407", text, help=f"say `--input-format` with {_known()}"))
    if kind in _TEXTS_OF_SETS:
        return _look_at_sets(data, said)
    if kind != "csv":
        return FileLayout(said.format)
    encoding = said.encoding or _encoding(first_file(data))
    text = _head(first_file(data), encoding)
    by_name = implied("sources", "csv", name).get("delimiter", "")
    if said.header is None and said.columns is None and said.format is None and encoding == "utf-8":
        sets = set_lines(text, said.delimiter or by_name)
        if sets is not None:
            return FileLayout(sets.format, sets.options)
    options: dict[str, Any] = {} if encoding == "utf-8" else {"encoding": encoding}
    delimiter, escape, records = _best(text, said.delimiter or by_name, said.escape)
    if delimiter != (by_name or ","):
        options["delimiter"] = delimiter
    if escape is not None:
        options["escape"] = escape or "none"
    cells = [cell for record in records for cell in record[1:] if cell]
    if cells and delimiter not in " \t" and sum(cell[:1] in " \t" for cell in cells) > len(cells) // 2:
        options["strip"] = True
    written = FileLayout(said.format, options)
    if said.columns is not None:
        skipped = {"skip_rows": 1} if said.header else {}
        return replace(written, options={**options, **skipped}, columns=(*said.columns, *partitions(data)))
    header = FirstLine.NAMES if said.header else FirstLine.ROW if said.header is False else header_of(records)
    written = replace(written, header=header)
    return (
        written if header is not FirstLine.ROW or not records else numbered(written, len(records[0]), partitions(data))
    )


def _look_at_sets(data: Path, said: TextOptions) -> FileLayout:
    """Find out what parts the items of a file whose name or format says that each line is a set."""
    read = set_lines(_head(first_file(data), said.encoding or _encoding(first_file(data))), said.delimiter or "")
    options = {} if read is None else dict(read.options)
    if read is not None and read.format == "transactions" and said.format == "baskets":
        options["delimiter"] = " "
    if said.delimiter not in (None, ",") and (said.format or "") != "transactions":
        options["delimiter"] = said.delimiter
    return FileLayout(said.format, options)


def in_long_form(written: FileLayout, name: str, owner: str, item: str) -> FileLayout:
    """Return the layout of the same CSV file as sets: of all rows of an ``owner`` the values of ``item``.

    A file of another format than CSV stays as it is.
    """
    if (written.format or inferred("sources", name)) != "csv":
        return written
    columns = {"columns": list(written.columns)} if written.columns else {}
    return FileLayout("long", {**written.options, **columns, "id": owner, "item": item})


def meanings(data: Path, written: FileLayout) -> Mapping[str, ColumnMeaning]:
    """Return what the file itself says of its columns, where its format can. Raises DataError."""
    with wrap_plugin_errors("the source"):
        source = open_source(written.node(telling_name(data)), data)
        return source.meanings() if isinstance(source, DescribedSource) else {}


@dataclass(frozen=True, slots=True)
class ProfiledSets:
    """A column of sets called ``name``, what they look like and how they are written.

    ``owner`` is the profile of the one column beside it, where that says whose sets they are.
    """

    name: str
    facts: SetFacts
    written: FileLayout
    owner: Profile | None = None


def sets(data: Path, written: FileLayout) -> ProfiledSets | None:
    """Return what a column of sets looks like; None for a table.

    Raises DataError where sets stand beside other columns than one of ids: they tell more together than anything that
    is drafted asks.
    """
    name = telling_name(data)
    kind = written.format or inferred("sources", name)
    if kind is None or not handling("sources", kind):
        return None
    read = replace(written, options=merging(kind, written.options))
    with wrap_plugin_errors("the source"):
        source = open_source(read.node(name), data)
        names = source.names()
        batches = source.batches(names)
        first = next(batches, None)
        if first is None or not any(holds_sets(each.type) for each in first.schema):
            return None
        every = (first, *batches)
        owner = _owner(first.schema, every) if len(names) == 2 else None
        if len(names) > 1 and owner is None:
            text = f"`{data}` holds sets of items beside other columns: there is no draft for both together"
            raise DataError(Diagnostic("PPF671", text, help="`pipelines/pharmacy.yaml` is a policy for baskets"))
        place = next(i for i, each in enumerate(first.schema) if holds_sets(each.type))
        document = dict(first.schema.field(place).metadata or {}).get(KEY)
        parts = [from_arrow(batch.column(place), document) for batch in every]
        column = stacked(parts)
        if not isinstance(column, Baskets):
            text = f"`{data}` holds randomized sets: there is no profile of those"
            raise DataError(Diagnostic("PPF671", text, help="`ppdm-flow mine` estimates what goes together in them"))
        if not len(column):
            raise DataError(Diagnostic("PPF714", f"`{data}` has no sets"))
        return ProfiledSets(names[place], set_facts(column), read if has_repeated(source) else written, owner)


def _owner(schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> Profile | None:
    """Return the profile of the one column beside sets, if it looks like that of ids of people."""
    others = [i for i, each in enumerate(schema) if not holds_sets(each.type)]
    if len(others) != 1:
        return None
    name = schema.names[others[0]]
    coded = _joined([batch.column(others[0]) for batch in batches])
    owner = measured({name: coded})
    return owner if owner.guesses[0].role in (Role.SUBJECT, Role.IDENTIFIER) else None


def first_sets(data: Path, written: FileLayout, most: int) -> tuple[str, list[str]] | None:
    """Return the name of a file's column of sets, and its first sets with commas between items; None for a table."""
    with wrap_plugin_errors("the source"):
        source = open_source(written.node(telling_name(data)), data)
        names = source.names()
        batch = next(iter(source.batches(names)), None)
        if batch is None or not any(holds_sets(each.type) for each in batch.schema):
            return None
        cells = [list(row.values()) for row in batch.slice(0, most).to_pylist()]
        items = [[item for cell in row for item in (cell if isinstance(cell, list) else [cell])] for row in cells]
        return ", ".join(names), [", ".join(map(str, row)) for row in items]


def columns(data: Path, written: FileLayout, *, whole: bool = True) -> dict[str, Coded]:
    """Read all columns, of the ``whole`` file or of its beginning.

    Raises DataError where the file cannot be read, or has columns that no policy can declare.
    """
    with wrap_plugin_errors("the source"):
        source = open_source(written.node(telling_name(data)), data)
        header = source.names()
        names = written.columns or header
        if len(names) != len(header):
            text = f"`{data}` has {counted(len(header), 'column')}, and {len(names)} are named"
            raise DataError(Diagnostic("PPF710", text, help="`--columns` takes all names, in the order of the file"))
        _check_names(names)
        batches = list(source.batches(header) if whole else islice(source.batches(header), 1))
    if not sum(batch.num_rows for batch in batches):
        raise DataError(Diagnostic("PPF714", f"`{data}` has a header and no rows"))
    return {name: _joined([batch.column(i) for batch in batches]) for i, name in enumerate(names)}


def numbered(written: FileLayout, width: int, keys: tuple[str, ...] = ()) -> FileLayout:
    """Return the same file without a header, its columns called by their places; after them come partitions."""
    return replace(written, columns=(*(f"column_{i}" for i in range(1, width + 1)), *keys))


def partitions(data: Path) -> tuple[str, ...]:
    """Return the columns that the names of folders give."""
    return file_set(data).keys if is_file_set(data) else ()


def without(
    coded: Mapping[str, Coded], said: tuple[str, ...] | None = None
) -> tuple[dict[str, Coded], tuple[str, ...]]:
    """Take marks of missing values for missing: (the columns, the marks). They are those that are ``said``, or occur.

    Raises DataError where a value is the sign of suppressed cells.
    """
    marks = _occurring(coded) if said is None else list(said)
    if any(_has(values, "") for _, values in coded.values()):
        marks.insert(0, "")
    signed = next((name for name, (_, values) in coded.items() if _has(values, SUPPRESSED_TEXT)), None)
    if signed is not None:
        text = f"column `{signed}` has the sign {SUPPRESSED_TEXT} as a value: it marks suppressed cells"
        raise DataError(Diagnostic("PPF713", text))
    kept = {name: _blanked(coded_, marks) for name, coded_ in coded.items()} if marks else dict(coded)
    return kept, tuple(dict.fromkeys(("", *marks)))


_SIGN_NAMES = {",": "comma", ".": "point"}


def with_plain_numbers(
    coded: Mapping[str, Coded], data: Path, written: FileLayout
) -> tuple[dict[str, Coded], FileLayout]:
    """Return columns whose numbers have a decimal point and no other signs, and how the reader makes such of them.

    One spelling holds for all numbers of a text file: of two that occur none is taken, nor beside numbers with a
    decimal point that it does not read.
    """
    spellings = [s for _, v in coded.values() if (s := number_spelling(v)) is not None]
    if not spellings or (written.format or inferred("sources", telling_name(data))) != "csv":
        return dict(coded), written
    spelling = max(spellings, key=lambda each: len(each.thousands))
    numeric = [n for n, (_, v) in coded.items() if number_spelling(v) is not None or type_of(v) is AttributeType.FLOAT]
    if not all(spelling.reads(coded[name][1]) for name in numeric):
        return dict(coded), written
    plain = {n: _recoded(codes, spelling.plain(v)) if n in numeric else (codes, v) for n, (codes, v) in coded.items()}
    signs = {"decimal": spelling.decimal, "thousands": spelling.thousands}
    named_signs = {name: _SIGN_NAMES[sign] for name, sign in signs.items() if sign and (name, sign) != ("decimal", ".")}
    return plain, replace(written, options={**written.options, **named_signs})


def with_iso_dates(coded: Mapping[str, Coded], data: Path, written: FileLayout) -> tuple[dict[str, Coded], FileLayout]:
    """Return columns whose dates are ISO ones, and how the reader makes such of them.

    Several forms hold for all dates of a text file where no text has two of them; else the one of most columns.
    """
    forms = {n: form for n, (_, v) in coded.items() if (form := _form_of_dates(n, v)) is not None}
    if not forms or (written.format or inferred("sources", telling_name(data))) != "csv":
        return dict(coded), written
    every = [form for form, _ in Counter(forms.values()).most_common()]
    try:
        dates = registry.load("sources", "csv").params.model_validate({"dates": every}).model_dump()["dates"]
    except ValidationError:
        dates = every[:1]
    iso = {
        name: _recoded(codes, iso_dates(v, forms[name])) if forms.get(name) in dates else (codes, v)
        for name, (codes, v) in coded.items()
    }
    return iso, replace(written, options={**written.options, "dates": list(dates) if len(dates) > 1 else dates[0]})


def _form_of_dates(name: str, values: pa.StringArray) -> str | None:
    """Return how all values of a column are dates that are not ISO ones; None for numbers, ids, months, open forms."""
    kind = type_of(values)
    if of_ids(name) or kind is AttributeType.FLOAT or kind.is_time:
        return None
    form = date_form(values)
    return form.formats[0] if form is not None and form.is_certain and form.has_days else None


def _recoded(codes: np.ndarray[Any, np.dtype[np.int32]], values: pa.StringArray) -> Coded:
    """Return a column of which some values became equal."""
    encoded = pc.dictionary_encode(values)
    place = np.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32), np.int32(-1))
    return place[codes], encoded.dictionary


def _occurring(coded: Mapping[str, Coded]) -> list[str]:
    """Return the usual marks of missing values that the columns have."""
    marks = [m for m in MARKS if any(_has(values, m) for _, values in coded.values())]
    every = (*MARKS, *NUMERIC_MARKS)
    numeric = [values for _, values in coded.values() if numeric_but(values, every)]
    dates = [
        v for _, v in coded.values() if any(_has(v, m) for m in DATE_MARKS) and dates_but(v, (*every, *DATE_MARKS))
    ]
    marks += [m for m in NUMERIC_MARKS if any(_has(values, m) for values in (*numeric, *dates))]
    return marks + [m for m in DATE_MARKS if any(_has(values, m) for values in dates)]


def _encoding(data: Path) -> str:
    """Return the encoding of a text: UTF-8 where all of it is, UTF-16 by its mark or its zeros, else cp1252."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with _opened(data) as file:
            head = file.read(_HEAD)
            if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
                return "utf-16"
            half = len(head) // 4
            if head[1::2].count(0) > half or head[::2].count(0) > half:
                return "utf-16-le" if head[1::2].count(0) > half else "utf-16-be"
            decoder.decode(head)
            while chunk := file.read(_HEAD):
                decoder.decode(chunk)
    except UnicodeDecodeError:
        return "cp1252"
    except (OSError, EOFError, zlib.error):
        return "utf-8"  # the reader itself says what is wrong
    return "utf-8"


def _head(data: Path, encoding: str) -> str:
    """Return whole lines from the beginning."""
    try:
        with _opened(data) as file:
            raw = file.read(_HEAD)
    except (OSError, EOFError, zlib.error):
        return ""
    text: str = raw.decode(encoding, errors="replace").removeprefix("\ufeff")
    return text if len(raw) < _HEAD else text[: text.rfind("\n") + 1] or text


def _opened(data: Path) -> Any:
    with data.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(data) if zipped else data.open("rb")


def _best(text: str, delimiter: str, escape: str | None) -> tuple[str, str | None, list[list[str]]]:
    """Return the delimiter and the escape by which records have the most cells, all as many, and the records.

    The doubled quote, which needs no escape, counts wherever it parts the text into several columns; of delimiters the
    first one.
    """
    escapes = (None, _BACKSLASH) if escape is None and f'{_BACKSLASH}"' in text else (escape,)
    choices = [(mark, each) for each in escapes for mark in ((delimiter,) if delimiter else _DELIMITERS)]
    best, most = choices[0], (-1, False, -1)
    for mark, each in choices:
        records, in_order = _records(text, mark, each)
        width = max(1, _width(records))
        fits = (int(in_order), each is None and width > 1, width)
        if fits > most and (mark != " " or delimiter or _is_parted(records)):
            best, most = (mark, each), fits
    return *best, _records(text, *best)[0]


def _is_parted(records: Sequence[Sequence[str]]) -> bool:
    """Whether blanks part cells, and not words: there are three cells or more, or a column of numbers."""
    if _width(records) != 2 or len(records) < 2:
        return _width(records) > 2
    return any(all(_NUMBER.fullmatch(row[i]) for row in records[1:]) for i in (0, 1))


def _records(text: str, delimiter: str, escape: str | None) -> tuple[list[list[str]], bool]:
    """Return the first records, and whether their quotes are in order."""
    records: list[list[str]] = []
    escaped = escape if escape not in ("", '"') else None
    lines = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        escapechar=escaped,
        doublequote=escaped is None,
        strict=True,
    )
    try:
        for record in lines:
            if record:
                records.append(record)
            if len(records) == _RECORDS:
                break
    except csv.Error:
        return records, lines.line_num > text.count("\n")  # the last record may go on behind the beginning
    return records, True


def _width(records: Sequence[Sequence[str]]) -> int:
    """Return how many cells the records have; 0 where they differ."""
    widths = {len(record) for record in records}
    return widths.pop() if len(widths) == 1 else 0


def _check_names(names: Sequence[str]) -> None:
    nameless = [str(i) for i, name in enumerate(names, 1) if not name.strip()]
    if nameless:
        text = f"column {nameless[0]} has no name" if len(nameless) == 1 else f"{len(nameless)} columns have no name"
        help_ = (
            "perhaps every line ends with a delimiter, or begins with a row number; `--no-header` reads it all the same"
        )
        raise DataError(Diagnostic("PPF672", text, help=help_))


def _joined(parts: Sequence[pa.Array]) -> Coded:
    """Stack the blocks of a column by Arrow's own dictionaries: sorting the texts would take longest."""
    chunks = [p if pa.types.is_dictionary(p.type) else pc.dictionary_encode(p.cast(pa.string())) for p in parts]
    column = pa.chunked_array([_plain(c) for c in chunks]).unify_dictionaries().combine_chunks()
    arrays = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    columns_ = [encode_texts(array) for array in arrays]
    codes = np.concatenate([c.codes for c in columns_])
    return _used(codes, columns_[0].categories)


def _plain(array: pa.DictionaryArray) -> pa.DictionaryArray:
    return array.cast(pa.dictionary(pa.int32(), pa.string()))


def _used(codes: np.ndarray[Any, np.dtype[np.int32]], values: pa.StringArray) -> Coded:
    """Leave out texts that no row has."""
    there = np.bincount(codes + 1, minlength=len(values) + 1)[1:] > 0
    if there.all():
        return codes, values
    place = np.append(np.cumsum(there, dtype=np.int32) - np.int32(1), np.int32(-1))
    return place[codes], values.filter(pa.array(there))


def _blanked(column: Coded, marks: Sequence[str]) -> Coded:
    codes, values = column
    hit = pc.is_in(values, value_set=pa.array(list(marks), pa.string())).to_numpy(zero_copy_only=False)
    if not hit.any():
        return column
    place = np.where(hit, np.int32(-1), np.arange(len(hit), dtype=np.int32))
    return _used(np.append(place, np.int32(-1)).astype(np.int32)[codes], values)


def _has(values: pa.StringArray, mark: str) -> bool:
    return bool(pc.any(pc.equal(values, mark)).as_py())


# Whether the first record of a text file names its columns: seen by its look, and in doubt it does not.


_HEADER_NUMBER = re.compile(r"\s*[+-]?(\d+(?:[.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
_DATE = re.compile(r"\s*(\d{4}-\d\d-\d\d.*|\d\d?[./]\d\d?[./]\d{2,4})\s*")
_MONTH = re.compile(r"\s*((19|20)\d\d[-/]\d\d|\d\d?[-./](19|20)\d\d)\s*")
"""A month, which is a value below a name; a name itself may be one, as in a table with a column a month."""
_WITHIN = re.compile(
    r"\S@[^\s@]{1,250}\.\S|(?<!\d)\d{4}-\d\d-\d\d(?!\d)|(?<!\d)\d\d?[./]\d\d?[./]\d{2,4}(?!\d)|https?://|www\.\S"
    r"|\d(?:[ ()./-]{0,2}\d){5}"
)
"""What no name has within: a mail address, a date, a link, six digits in a row, however they are parted."""
_STREET = re.compile(
    r"(?i)(?=.*\d).*(\b(street|st|road|rd|avenue|ave|lane|drive|boulevard|blvd|court|square|rue|via|calle|avenida|platz"
    r"|weg|allee|gasse|str)\b|\w{2}(str\.|(stra(ss|ß)e|weg|platz|allee|gasse|straat)\b))"
)
_NUMBERED = re.compile(r"(?=.*[^\W\d]{2})(.*\s)?\d+[a-zA-Z]?([\s,].*)?", re.DOTALL)
"""Words with a number among them: `12 High Road`, and `Question 12`."""
_FEW_WORDS = 5
_MANY = 20
_LONGEST_NAME = 200
_MADE = re.compile(r"[A-Za-z][A-Za-z0-9]*([_.][A-Za-z0-9]+)+|[a-z]+([A-Z][a-z0-9]*)+|[A-Za-z]{1,12}\d{1,3}")
"""Names as programs write them: `birth_date`, `birthDate`, `q12`."""
_CODE = re.compile(r"[A-Za-z]{1,12}\d{1,3}")
"""A name of one letter and a number, or a code of an illness: alone it is no sign of a header."""
_BLANK = frozenset(("", *MARKS, *NUMERIC_MARKS))
_UNKNOWN = frozenset(("none", "unknown", "missing", "refused", "declined", "other", "unbekannt", "keine", "inconnu"))
"""Words that mean a missing number; as names they say nothing."""
_YEAR = re.compile(r"(19|20)[0-9]{2}")
_YEARS = re.compile(rf"(?<!\d){_YEAR.pattern}(?!\d)")


class FirstLine(Enum):
    """What the first line of a text file is."""

    NAMES = "names of columns: a sign of it was seen, or somebody says so"
    LIKELY = "names of columns, as far as the beginning of the file shows"
    ROW = "a row of data"


def header_of(records: Sequence[Sequence[str]]) -> FirstLine:
    """Say what the first record is: names where there is a sign of them, and in doubt a row.

    A sign is a word that columns are called by, or that programs write, above numbers or dates, in a record without
    dates, addresses and long numbers. Without one a number, what is written like values below it, and a value of a
    record below are values. Years above other numbers are not, nor is the only value that the column has, as the ticks
    of a survey say their own column. What is left are names where several cells, or one of a long file, are single
    words above numbers or dates; where most cells are so, or words that columns are called by, or written as programs
    write names and those below are not; or where all cells are years and ticks. In doubt there are no names: a row that
    is taken for them would be shown.
    """
    if len(records) < 2:
        return FirstLine.LIKELY
    first, rest = records[0], records[1:]
    below = [[row[i].strip() for row in rest if i < len(row)] for i in range(len(first))]
    columns = list(zip([cell.strip() for cell in first], below, strict=True))
    if any(shaped(cell) for cell in first):
        return FirstLine.ROW
    above = [cell for cell, values in columns if _above_numbers(cell, values)]
    if any(
        _is_short(cell) and (named(cell) is not None or _is_made(cell, ()))
        for cell in above
        if not _CODE.fullmatch(cell)
    ):
        return FirstLine.NAMES
    others = [each for each in columns if not _is_year_above(*each) and not _is_tick_above(*each)]
    if any(
        _HEADER_NUMBER.fullmatch(cell) or (cell and cell in values) or _is_alike(cell, values)
        for cell, values in others
    ):
        return FirstLine.ROW
    names = sum(_is_called(*each) or _is_made(*each) or _above_numbers(*each) for each in others)
    alike = len(columns) - len(others)
    words = [cell for cell in above if len(cell.split()) == 1]
    if len(words) > 1 or (words and len(rest) >= _MANY):  # one may be a word for a missing number
        return FirstLine.LIKELY
    if 2 * names > sum(cell != "" for cell, _ in others) or (not others and alike > 1):
        return FirstLine.LIKELY
    return FirstLine.ROW


def shaped(cell: str) -> bool:
    """Whether a text is a date, an address or a long number, or has one within: no column is called so."""
    if len(cell) > _LONGEST_NAME or _WITHIN.search(_YEARS.sub("", cell)):
        return True
    return bool(_DATE.fullmatch(cell) or _STREET.match(cell))


def are_values(columns: Mapping[str, Coded]) -> bool:
    """Whether the name of a column is one of its several values, a date or an address: then it was a row once."""
    return any(
        shaped(name) or (len(values) > 1 and bool(pc.any(pc.equal(values, name)).as_py()))
        for name, (_, values) in columns.items()
        if not _YEAR.fullmatch(name)
    )


def _is_year_above(cell: str, values: Sequence[str]) -> bool:
    """Whether a cell is a year, and the numbers below it are not."""
    said = [value for value in values if value not in _BLANK]
    years = sum(_YEAR.fullmatch(value) is not None for value in said)
    return _YEAR.fullmatch(cell) is not None and bool(said) and 2 * years < len(said)


def _is_tick_above(cell: str, values: Sequence[str]) -> bool:
    """Whether the column says nothing but this, and not everywhere."""
    return cell not in _BLANK and {cell, ""} == set(values)


def _above_numbers(cell: str, values: Sequence[str]) -> bool:
    said = [value for value in values if value not in _BLANK]
    forms = (_HEADER_NUMBER, _DATE, _MONTH)
    numbers = bool(said) and all(any(form.fullmatch(value) for form in forms) for value in said)
    return numbers and cell not in _BLANK and cell.lower() not in _UNKNOWN and cell[:1].isalpha()


def _is_short(cell: str) -> bool:
    """Whether a cell has no more words than a name: a sentence has many, and any of them may be one for columns."""
    return len(cell.split()) <= _FEW_WORDS


def _is_called(cell: str, values: Sequence[str]) -> bool:
    """Whether a cell is a word for columns, and hardly any of the values below is one."""
    return _is_short(cell) and named(cell) is not None and not _mostly(lambda value: named(value) is not None, values)


def _is_alike(cell: str, values: Sequence[str]) -> bool:
    """Whether a cell is written as those below: words with a number among them, or sentences."""
    forms: tuple[Callable[[str], bool], ...] = (
        lambda text: _NUMBERED.fullmatch(text) is not None,
        lambda text: not _is_short(text),
    )
    return any(form(cell) and _mostly(form, values) for form in forms)


def _mostly(holds: Callable[[str], bool], values: Sequence[str]) -> bool:
    said = [value for value in values if value not in _BLANK]
    return 2 * sum(map(holds, said)) > len(said)


def _is_made(cell: str, values: Sequence[str]) -> bool:
    return _MADE.fullmatch(cell) is not None and not any(_MADE.fullmatch(value) for value in values)
