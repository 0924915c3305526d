"""Parquet: row groups of a fixed size, whose dictionaries hold nothing but the values in use."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ppdm_flow.sinks.parquet.spec import ParquetSinkParams
from ppdm_flow.tables.arrow_texts import has_way_back
from ppdm_flow.tables.sets.arrow import KEY

ROW_GROUP = 1 << 17


class ParquetSink:
    """Writes one file, which must not exist yet, row group by row group. A file that failed holds nothing."""

    def __init__(self, params: ParquetSinkParams, path: Path, names: Sequence[str]) -> None:
        self.names = list(names)
        self._compression = params.compression
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._group = 0
        self._has_failed = False
        self._file = path.open("xb")
        self._writer: pq.ParquetWriter | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows; a row group is encoded whenever one is full."""
        writer = self._begun(batch.schema)
        while batch.num_rows:
            room = self._group - self._rows
            piece, batch = batch.slice(0, room), batch.slice(room)
            self._waiting.append(piece)
            self._rows += piece.num_rows
            if self._rows == self._group:
                self._flush(writer)

    def close(self) -> None:
        """Finish and flush to disk."""
        with self._file:
            writer = self._begun(pa.schema([(name, TEXTS) for name in self.names]))
            try:
                if self._rows and not self._has_failed:
                    self._flush(writer)
            finally:
                writer.close()
                if self._has_failed:
                    self._file.truncate(0)
            self._file.flush()
            os.fsync(self._file.fileno())

    def _begun(self, schema: pa.Schema) -> pq.ParquetWriter:
        """Return the writer of the file, whose layout the first batch decides."""
        if self._writer is None:
            layout = RowGroupLayout.of(schema, ROW_GROUP)
            self._group = layout.group
            self._writer = layout.writer(self._file, self._compression)
        return self._writer

    def _flush(self, writer: pq.ParquetWriter) -> None:
        """Encode the waiting rows."""
        batches, self._waiting, self._rows = self._waiting, [], 0
        self._has_failed = True
        columns = [gathered([b.column(i) for b in batches]) for i in range(len(writer.schema))]
        writer.write_table(pa.Table.from_arrays(columns, schema=writer.schema), row_group_size=self._group)
        self._has_failed = False


# How columns lie in a Parquet file: their types, dictionaries and compression.


TEXTS = pa.dictionary(pa.int32(), pa.string())
"""How texts are held in the columns of a row group."""
_BYTES = 1 << 24
_RAW = ("bits", "seed")


@dataclass(frozen=True, slots=True)
class RowGroupLayout:
    """``group`` rows a row group; ``documents`` explain sets, in the file's metadata.

    ``coded`` are the physical columns with dictionaries (not floats and timestamps, of which hardly one occurs twice),
    ``raw`` those of noise. Noise has neither dictionary nor statistics and is not compressed: that would take time and
    save next to nothing.
    """

    schema: pa.Schema
    group: int
    coded: list[str]
    raw: tuple[str, ...]
    documents: Mapping[bytes, bytes]

    @classmethod
    def of(cls, schema: pa.Schema, group: int) -> RowGroupLayout:
        """Return the layout for batches of a schema; ``group`` is the most rows of a row group."""
        fields = [pa.field(f.name, _kind(f.type)) for f in schema]
        sets = {f.name: json.loads(f.metadata[KEY]) for f in schema if f.metadata and KEY in f.metadata}
        documents = {KEY: json.dumps(sets, ensure_ascii=False).encode()} if sets else {}
        raw = tuple(f"{f.name}.{part}" for f in fields for part in _parts(f.type) if part in _RAW)
        every = [f"{f.name}.{part}" if part else f.name for f in fields for part in _parts(f.type)]
        widths = [f.type.field(part).type.byte_width for f in fields for part in _parts(f.type) if part in _RAW]
        rows = min(group, max(1024, _BYTES // max(1, *widths))) if widths else group
        coded = [c for c in every if c not in raw and c not in _spread(fields)]
        return cls(pa.schema(fields), rows, coded, raw, documents)

    def writer(self, out: pa.NativeFile, compression: str) -> pq.ParquetWriter:
        """Return Arrow's writer of such a file; the caller closes it."""
        writer = pq.ParquetWriter(
            out,
            self.schema,
            compression=self._compression(compression),
            use_dictionary=self.coded,
            write_statistics=False,  # rows are shuffled: no row group could be skipped by its extremes
            store_schema=any(_is_only_of_arrow(kind) for kind in self.schema.types),
            version="2.6",
        )
        if self.documents:
            writer.add_key_value_metadata(dict(self.documents))
        return writer

    def _compression(self, chosen: str) -> str | Mapping[str, str]:
        if not self.raw:
            return chosen
        plain = [name for name in self.schema.names if is_typed(self.schema.field(name).type)]
        return {**dict.fromkeys((*self.coded, *plain), chosen), **dict.fromkeys(self.raw, "none")}


def _kind(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind) or is_typed(kind):
        return kind
    return pa.large_list(TEXTS) if pa.types.is_large_list(kind) else TEXTS


def _spread(fields: Sequence[pa.Field]) -> frozenset[str]:
    return frozenset(f.name for f in fields if pa.types.is_floating(f.type) or pa.types.is_timestamp(f.type))


def is_typed(kind: pa.DataType) -> bool:
    """Say whether cells are numbers, dates or times, not texts or sets."""
    return has_way_back(kind)


def _is_only_of_arrow(kind: pa.DataType) -> bool:
    """Say whether Parquet has no such type, so that the schema of Arrow has to tell it."""
    return bool(pa.types.is_duration(kind) or (pa.types.is_timestamp(kind) and kind.tz not in (None, "UTC")))


def _parts(kind: pa.DataType) -> tuple[str, ...]:
    """Return the physical columns below one of a schema; the empty name is the column itself."""
    if pa.types.is_struct(kind):
        return tuple(kind.names)
    return ("list.element",) if pa.types.is_large_list(kind) else ("",)


# The columns of a row group, put together from batches: their dictionaries hold nothing but what occurs.


_HEAD = 1 << 12
_BYTE = 1 << 7


def gathered(pieces: list[pa.Array]) -> pa.Array:
    """Return the cells of a column as a row group takes them; ``pieces`` are its batches, in order, at least one."""
    kind = pieces[0].type
    if pa.types.is_struct(kind) or is_typed(kind):
        return pa.concat_arrays(pieces)
    if not pa.types.is_large_list(kind):
        return _occurring(pieces)
    offsets = [pa.array([0], pa.int64())]
    values = []
    offset = 0
    for piece in pieces:
        begin = piece.offsets[0].as_py()
        size = piece.offsets[len(piece)].as_py() - begin
        offsets.append(pc.add(piece.offsets.slice(1), offset - begin))
        values.append(piece.values.slice(begin, size))
        offset += size
    return pa.LargeListArray.from_arrays(pa.concat_arrays(offsets), _occurring(values))


def _occurring(pieces: list[pa.Array]) -> pa.DictionaryArray:
    """Return the cells under a dictionary of nothing but what occurs, in order of rows: blocks leave no trace."""
    coded = [_dictionary_encoded(p) for p in pieces]
    if any(not c.dictionary.equals(coded[0].dictionary) for c in coded[1:]):
        coded = pa.chunked_array(coded, TEXTS).unify_dictionaries().chunks
    names = coded[0].dictionary
    codes = pa.concat_arrays([c.indices for c in coded])
    rank = None if codes.null_count else _ranked(codes.slice(0, _HEAD).to_numpy(), len(names))
    if rank is not None:
        order = pa.array(np.argsort(rank), pa.int32())
        places = pa.array(rank.take(codes.to_numpy()), pa.int32())
        return pa.DictionaryArray.from_arrays(places, names.take(order), safe=False)
    if len(names) <= _BYTE:
        codes = codes.cast(pa.int8(), safe=False)  # of bytes, what occurs is looked up in a table
    encoded = codes.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices, names.take(encoded.dictionary), safe=False)


def _ranked(head: npt.NDArray[np.int32], width: int) -> npt.NDArray[np.int32] | None:
    """Return the place of each code in the order in which they occur, if all are among the first rows; else None."""
    first = np.full(width, len(head))
    first[head[::-1]] = np.arange(len(head) - 1, -1, -1)  # of a code that is there twice the last number stays
    if width > len(head) or (first == len(head)).any():
        return None
    rank = np.empty(width, dtype=np.int32)
    rank[np.argsort(first)] = np.arange(width, dtype=np.int32)
    return rank


def _dictionary_encoded(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(column.type) and not column.dictionary.null_count:
        return column if column.type == TEXTS else column.cast(TEXTS)
    return column.cast(pa.string()).dictionary_encode()
