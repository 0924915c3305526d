"""A file as coded columns, however it is written: what its beginning tells of delimiter, encoding and header."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.api.profile.header import names_columns
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import file_set, first_file, is_file_set, telling_name
from ppdm_flow.core.records import dataclass
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.opening.opening import open_source
from ppdm_flow.engine.streams.coding import encode_texts
from ppdm_flow.mining.profiling.table import Coded
from ppdm_flow.mining.profiling.types import MARKS, NUMERIC_MARKS, numeric_but
from ppdm_flow.plan.definition import SourceNode
from ppdm_flow.plan.formats import implied, inferred
from ppdm_flow.sdk.storage import ColumnMeaning, DescribedSource
from ppdm_flow.tables.column import SUPPRESSED_TEXT

_HEAD = 1 << 16
_RECORDS = 50
_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How a file is written: its format, the reader's options where they are not the default, names if it has none."""

    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None

    def node(self, name: str) -> SourceNode:
        """Return a source that reads a file of that name."""
        options = {**implied("sources", self.format or inferred("sources", name), name), **self.options}
        return SourceNode(None, self.format, options, self.columns, ("",), False, "drop", (), ())


def look(data: Path, *, header: bool | None = None) -> FileLayout:
    """Look at the beginning of a text file; other formats say themselves how they are written."""
    name = telling_name(data)
    if inferred("sources", name) != "csv":
        return FileLayout()
    text, encoding = _head(first_file(data))
    said = implied("sources", "csv", name).get("delimiter", "")
    delimiter, records = (said, _records(text, said)) if said else _best(text)
    options: dict[str, Any] = {} if encoding == "utf-8" else {"encoding": encoding}
    if delimiter not in (",", said):
        options["delimiter"] = delimiter
    cells = [cell for record in records for cell in record[1:] if cell]
    if cells and sum(cell[:1] in " \t" for cell in cells) > len(cells) // 2:
        options["strip"] = True
    headed = header if header is not None else names_columns(records)
    written = FileLayout(None, options)
    return written if headed or not records else numbered(written, len(records[0]), partitions(data))


def meanings(data: Path, written: FileLayout) -> Mapping[str, ColumnMeaning]:
    """Return what the file itself says of its columns, where its format can. Raises DataError."""
    with wrap_plugin_errors("the source"):
        source = open_source(written.node(telling_name(data)), data)
        return source.meanings() if isinstance(source, DescribedSource) else {}


def columns(data: Path, written: FileLayout) -> dict[str, Coded]:
    """Read all columns. Raises DataError where the file cannot be read, or has columns that no policy can declare."""
    with wrap_plugin_errors("the source"):
        source = open_source(written.node(telling_name(data)), data)
        header = source.names()
        names = written.columns or header
        _check_names(names)
        batches = list(source.batches(header))
    if not sum(batch.num_rows for batch in batches):
        raise DataError(Diagnostic("PPF670", f"`{data}` has a header and no rows"))
    if any(pa.types.is_nested(kind) for kind in batches[0].schema.types):
        help_ = "`pipelines/pharmacy.yaml` is a policy for baskets"
        raise DataError(Diagnostic("PPF671", f"`{data}` holds sets of items: there is no profile of those", help=help_))
    return {name: _joined([batch.column(i) for batch in batches]) for i, name in enumerate(names)}


def numbered(written: FileLayout, width: int, keys: tuple[str, ...] = ()) -> FileLayout:
    """Return the same file without a header, its columns called by their places; after them come partitions."""
    return replace(written, columns=(*(f"column_{i}" for i in range(1, width + 1)), *keys))


def partitions(data: Path) -> tuple[str, ...]:
    """Return the columns that the names of folders give."""
    return file_set(data).keys if is_file_set(data) else ()


def without(coded: Mapping[str, Coded]) -> tuple[dict[str, Coded], tuple[str, ...]]:
    """Take marks of missing values for missing: (the columns, the marks that occur).

    Raises DataError where a value is the sign of suppressed cells.
    """
    marks = [m for m in MARKS if any(_has(values, m) for _, values in coded.values())]
    every = (*MARKS, *NUMERIC_MARKS)
    numeric = [values for _, values in coded.values() if numeric_but(values, every)]
    marks += [m for m in NUMERIC_MARKS if any(_has(values, m) for values in numeric)]
    if any(_has(values, "") for _, values in coded.values()):
        marks.insert(0, "")
    signed = next((name for name, (_, values) in coded.items() if _has(values, SUPPRESSED_TEXT)), None)
    if signed is not None:
        text = f"column `{signed}` has the sign {SUPPRESSED_TEXT} as a value: it stands for suppressed cells"
        raise DataError(Diagnostic("PPF713", text))
    kept = {name: _blanked(coded_, marks) for name, coded_ in coded.items()} if marks else dict(coded)
    return kept, tuple(dict.fromkeys(("", *marks)))


def _head(data: Path) -> tuple[str, str]:
    """Return whole lines from the beginning, and the encoding that they are in."""
    try:
        with data.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        with gzip.open(data) if zipped else data.open("rb") as file:
            raw = file.read(_HEAD)
    except (OSError, EOFError):
        return "", "utf-8"  # the reader itself says what is wrong
    text = raw[: raw.rfind(b"\n") + 1] or raw
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw[: len(raw) // 2 * 2].decode("utf-16", errors="replace"), "utf-16"
    try:
        return text.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        return text.decode("cp1252", errors="replace"), "cp1252"


def _best(text: str) -> tuple[str, list[list[str]]]:
    """Return the delimiter by which records have the most cells, all as many, and the records."""
    best = (",", _records(text, ","))
    for delimiter in _DELIMITERS[1:]:
        records = _records(text, delimiter)
        if _width(records) > max(1, _width(best[1])):
            best = (delimiter, records)
    return best


def _records(text: str, delimiter: str) -> list[list[str]]:
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(text), delimiter=delimiter):
            if record:
                records.append(record)
            if len(records) == _RECORDS:
                break
    except csv.Error:
        return records
    return records


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
