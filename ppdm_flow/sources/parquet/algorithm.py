"""Parquet by row groups: texts keep their dictionaries, other types get their canonical text."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sources.faults import distinct, fault, unreadable
from ppdm_flow.sources.lines import merged, ranked
from ppdm_flow.sources.parquet.spec import ParquetSourceParams
from ppdm_flow.tables.arrow_texts import FRAME_TYPE, NotText, has_way_back, texts
from ppdm_flow.tables.numeric.column import fits
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.sets.arrow import KEY, holds_sets


def lists(array: pa.Array, *, merge: bool) -> tuple[pa.LargeListArray, int]:
    """Return lists of coded texts, and how many repeated items were left out.

    Raises NotText for lists of what is no text. A missing list, or an item that is missing, stays one.
    """
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    coded = texts(array.values.slice(offsets[0], offsets[-1] - offsets[0]))
    offsets = offsets - offsets[0]
    repeated = 0
    if merge and not array.null_count and not coded.null_count:
        alphabet, rank = ranked(coded.dictionary)
        raw = Baskets(offsets, rank[coded.indices.to_numpy()], alphabet)
        baskets, repeated = merged(raw)
        offsets, coded = baskets.offsets, pa.DictionaryArray.from_arrays(pa.array(baskets.items, pa.int32()), alphabet)
    mask = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), coded, mask=mask), repeated


def documents(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, Mapping[bytes, bytes]]:
    """Return the metadata of each column whose sets a file's own metadata explains; nothing where it is damaged."""
    try:
        sets = json.loads((metadata or {}).get(KEY, b"{}"))
        return {str(name): {KEY: json.dumps(document).encode()} for name, document in sets.items()}
    except (ValueError, AttributeError):
        return {}


_ROWS = 1 << 18
_CODE_BYTES = 4
_DICTIONARY = 1 << 16
"""Bytes that the dictionaries of a small column may take."""
_BYTES = 1 << 25


class ParquetSource:
    """One Parquet file, or the row groups ``groups`` of it, whose first row has the number ``first``."""

    def __init__(
        self, params: ParquetSourceParams, path: Path, groups: tuple[int, ...] | None = None, first: int = 0
    ) -> None:
        self.params = params
        self.path = path
        self.groups = groups
        self.first = first
        self.repeated = 0
        self._field_metadata: Mapping[str, Mapping[bytes, bytes]] = {}

    def names(self) -> tuple[str, ...]:
        """Return the column names. Raises DataError where the file is no Parquet, or two names are the same."""
        with self._open() as file:
            return distinct(self.path, tuple(file.schema_arrow.names))

    def column_types(self) -> Mapping[str, str]:
        """Return the type of each column, and how its sets are packed; texts are texts, coded or not."""
        with self._open() as file:
            schema = file.schema_arrow
            distinct(self.path, tuple(schema.names))
            packed = documents(schema.metadata)
            return {f.name: _described(f.type, packed.get(f.name)) for f in schema}

    def stored_types(self) -> Mapping[str, pa.DataType]:
        """Return the types of columns that are no texts and can be had again from their texts."""
        with self._open() as file:
            types = {f.name: _values(f.type) for f in file.schema_arrow if FRAME_TYPE not in (f.metadata or {})}
        return {name: kind for name, kind in types.items() if has_way_back(kind)}

    def foreign_types(self) -> Mapping[str, str]:
        """Return the types of a data frame's columns that leave in no type of their own."""
        with self._open() as file:
            noted = {f.name: (f.metadata or {}).get(FRAME_TYPE) for f in file.schema_arrow}
        return {name: kind.decode() for name, kind in noted.items() if kind is not None}

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows. Raises DataError, naming the column, where a type has no text."""
        return self.typed_batches(columns, {})

    def typed_batches(self, columns: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; numbers and moments of the columns in ``types`` stay what they are. Raises DataError."""
        return self._decoded(columns, types, threads=True)

    def threadless_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; each block is decoded in the caller's thread. Raises DataError."""
        return self._decoded(columns, {}, threads=False)

    def _decoded(
        self, columns: Sequence[str], types: Mapping[str, AttributeType], *, threads: bool
    ) -> Iterator[pa.RecordBatch]:
        done = self.first
        try:
            with self._open(columns) as file:
                self.repeated = 0
                self._field_metadata = documents(file.schema_arrow.metadata)
                for batch in _blocks(file, list(columns), self.groups, threads=threads):
                    yield self._batch(batch, columns, types, done)
                    done += batch.num_rows
        except (pa.ArrowException, OSError):
            raise self._broken(done) from None

    def pieces(self, rows: int) -> list[ParquetPiece]:
        """Return readers of row groups: together those that have at most so many rows. Raises DataError."""
        with self._open() as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        pieces: list[ParquetPiece] = []
        for group, size in enumerate(sizes):
            if pieces and pieces[-1].rows + size <= rows:
                last = pieces.pop()
                pieces.append(ParquetPiece(self.params, self.path, (*last.groups, group), last.rows + size))
            else:
                pieces.append(ParquetPiece(self.params, self.path, (group,), size))
        return pieces

    def beside(self) -> Iterator[Finding]:
        """Yield what the file holds beside its cells."""
        return beside(self.path)

    def _open(self, columns: Sequence[str] = ()) -> pq.ParquetFile:
        try:
            with pq.ParquetFile(self.path) as probe:
                texts = [f.name for f in probe.schema_arrow if f.name in columns and _is_text(_values(f.type))]
                plain = _written_out(probe.metadata)
            coded = [name for name in texts if name not in plain]
            return pq.ParquetFile(self.path, read_dictionary=coded, pre_buffer=False)
        except OSError as error:
            if error.errno is None:
                raise self._broken(None) from None
            raise unreadable(self.path, error) from None
        except pa.ArrowException:
            raise self._broken(None) from None

    def _batch(
        self, batch: pa.RecordBatch, columns: Sequence[str], types: Mapping[str, AttributeType], done: int
    ) -> pa.RecordBatch:
        if not columns:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
        arrays = []
        for name in columns:
            try:
                array = batch.column(name)
                arrays.append(array if name in types and _stays(array.type, types[name]) else self._column(array))
            except NotText as error:
                raise fault("PPF719", f"column `{name}`: {error}", help="drop it, or flatten it beforehand") from None
            except pa.ArrowException:
                raise fault("PPF704", f"column `{name}`: after row {done} a value is not UTF-8 text") from None
        typed = zip(columns, arrays, strict=True)
        fields = [pa.field(n, a.type, metadata=self._field_metadata.get(n)) for n, a in typed]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _column(self, array: pa.Array) -> pa.Array:
        if pa.types.is_string(array.type):
            array.validate(full=True)
            return array
        if not holds_sets(array.type):
            return texts(array)
        if pa.types.is_struct(array.type):
            return array
        sets, repeated = lists(array, merge=self.params.repeated == "merge")
        self.repeated += repeated
        return sets

    def _broken(self, done: int | None) -> DataError:
        where = "" if done is None else f" after row {done}"
        return fault(
            "PPF717", f"`{self.path}` cannot be read as Parquet{where}", help="it is cut off, or another format"
        )


@dataclass(frozen=True, slots=True)
class ParquetPiece:
    """Some row groups of a file."""

    params: ParquetSourceParams
    path: Path
    groups: tuple[int, ...]
    rows: int

    @property
    def begins(self) -> bool:
        """Whether it has the first row of the file."""
        return self.groups[0] == 0

    def starting_at(self, row: int) -> ParquetSource:
        """Return the reader of these row groups."""
        return ParquetSource(self.params, self.path, self.groups, row)


def _blocks(
    file: pq.ParquetFile, columns: list[str], groups: tuple[int, ...] | None, *, threads: bool
) -> Iterator[pa.RecordBatch]:
    """Yield blocks of rows; Arrow cannot gather lists of coded texts from several row groups into one."""
    size, chosen = _rows(file.schema_arrow), list(range(file.num_row_groups) if groups is None else groups)
    apart = any(_is_coded_list(f.type) for f in file.schema_arrow if f.name in columns)
    for some in [[group] for group in chosen] if apart else [chosen]:
        yield from file.iter_batches(size, row_groups=some, columns=columns, use_threads=threads)


def _stays(kind: pa.DataType, wanted: AttributeType) -> bool:
    """Whether a column is not made texts of: it can be read as what is wanted, or is wanted as it is."""
    return has_way_back(kind) if wanted is AttributeType.TEXT else fits(kind)


def _written_out(metadata: pq.FileMetaData) -> frozenset[str]:
    """Return the columns that take more bytes a cell than a code would: most of their texts are in no dictionary.

    Arrow would make one of them while it reads, which grows from block to block and comes with each.
    """
    octets, cells = Counter[str](), Counter[str]()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            octets[column.path_in_schema] += column.total_uncompressed_size
            cells[column.path_in_schema] += column.num_values
    return frozenset(name for name, size in octets.items() if size > _CODE_BYTES * cells[name] + _DICTIONARY)


def _is_coded_list(kind: pa.DataType) -> bool:
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(listed and pa.types.is_dictionary(kind.value_type))


def _rows(schema: pa.Schema) -> int:
    """Return how many rows to read at once: rows of packed sets are wide."""
    wide = [f.type.field("bits").type for f in schema if pa.types.is_struct(f.type) and "bits" in f.type.names]
    octets = sum(t.byte_width for t in wide if pa.types.is_fixed_size_binary(t))
    return min(_ROWS, max(1024, _BYTES // octets)) if octets else _ROWS


def _described(kind: pa.DataType, packed: Mapping[bytes, bytes] | None) -> str:
    plain = _values(kind)
    if packed is not None:
        return f"{kind} packed by {packed!r}"
    return "string" if _is_text(plain) else str(kind)


def _values(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values: coded ones Arrow gives codes as wide as they were where they were written."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


# What a Parquet file holds beside its cells: leftover values, statistics, metadata, bytes of no column.


_KNOWN = {b"pandas": "what pandas notes of a table", b"ARROW:schema": "an Arrow schema with its own metadata"}
_SCHEMA = b"ARROW:schema"
_MAGIC = 4
_FOOTER = 8


def beside(path: Path) -> Iterator[Finding]:
    """Yield what there is, in numbers and names of columns; never a value."""
    with pq.ParquetFile(path) as file:
        yield from _metadata(file)
        yield from _statistics(file)
        yield from _uncounted(file, path.stat().st_size, _footer(path))
        coded = [f.name for f in file.schema_arrow if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        coded += [f.name for f in file.schema_arrow if pa.types.is_dictionary(f.type)]
    if coded:
        yield from _leftovers(path, coded)


def _metadata(file: pq.ParquetFile) -> Iterator[Finding]:
    metadata = file.metadata.metadata or {}
    keys = set(metadata) - {KEY}
    if _tells_types_alone(metadata.get(_SCHEMA)):
        keys -= {_SCHEMA}
    known = [description for key, description in _KNOWN.items() if key in keys]
    other = len(keys - _KNOWN.keys())
    parts = [*known, *([f"{counted(other, 'entry')} of its own"] if other else [])]
    if parts:
        text = f"the file's metadata has {' and '.join(parts)}: read them before the file leaves"
        yield Finding("PPF922", Severity.WARNING, text, "metadata")
    fields = [f.name for f in file.schema_arrow if f.metadata and set(f.metadata) - {KEY, b"PARQUET:field_id"}]
    if fields:
        yield Finding(
            "PPF922", Severity.WARNING, f"{counted(len(fields), 'column')} of the file have metadata", "columns"
        )


def _tells_types_alone(written: bytes | None) -> bool:
    """Whether a schema of Arrow's, as Parquet has it, says nothing but the names and flat types of columns."""
    if written is None:
        return False
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(written)))
    except (ValueError, OSError, pa.ArrowException):
        return False
    return not schema.metadata and not any(f.metadata or pa.types.is_nested(f.type) for f in schema)


def _statistics(file: pq.ParquetFile) -> Iterator[Finding]:
    """Extremes are those of the rows only if nothing was taken out of the file since."""
    columns: set[str] = set()
    for group in range(file.num_row_groups):
        row_group = file.metadata.row_group(group)
        for place in range(row_group.num_columns):
            column = row_group.column(place)
            if column.is_stats_set and column.statistics is not None and column.statistics.has_min_max:
                columns.add(column.path_in_schema)
    for name in sorted(columns):
        text = f"the file has the least and the greatest value of `{name}` for each group of rows"
        yield Finding("PPF923", Severity.INFO, text, name)


def _footer(path: Path) -> int:
    with path.open("rb") as file:
        file.seek(-_FOOTER, 2)
        return int.from_bytes(file.read(4), "little")


def _uncounted(file: pq.ParquetFile, size: int, footer: int) -> Iterator[Finding]:
    chunks = 0
    for group in range(file.num_row_groups):
        row_group = file.metadata.row_group(group)
        chunks += sum(row_group.column(place).total_compressed_size for place in range(row_group.num_columns))
    left = size - (_MAGIC + chunks + footer + _FOOTER)
    if left > 0:
        text = f"{counted(left, 'byte')} of the file belong to no column: indexes, filters, or what was there before"
        yield Finding("PPF921", Severity.WARNING, text, "bytes")


def _leftovers(path: Path, coded: list[str]) -> Iterator[Finding]:
    unused = dict.fromkeys(coded, 0)
    with pq.ParquetFile(path, read_dictionary=coded) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=coded)
            for name in coded:
                unused[name] += sum(_unused(chunk) for chunk in table[name].chunks)
    for name, count in unused.items():
        if count:
            text = f"the file has {counted(count, 'value')} of `{name}` in its dictionaries that no row has"
            yield Finding("PPF921", Severity.WARNING, text, name)


def _unused(chunk: pa.Array) -> int:
    if not pa.types.is_dictionary(chunk.type):
        return 0
    used = np.unique(chunk.indices.drop_null().to_numpy(zero_copy_only=False))
    return len(chunk.dictionary) - len(used)
