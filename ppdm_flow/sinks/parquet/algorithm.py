"""Parquet: row groups of a fixed size, whose dictionaries hold nothing but the values in use."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ppdm_flow.sinks.parquet.spec import ParquetParams
from ppdm_flow.tables.sets.arrow import KEY

_BYTES = 1 << 24
_RAW = ("bits", "seed")


@dataclass(frozen=True, slots=True)
class Layout:
    """``group`` rows a row group; ``documents`` explain sets, in the file's metadata.

    ``coded`` are the physical columns with dictionaries (not floats and timestamps, of which hardly one occurs twice),
    ``raw`` those of noise. Noise has neither
    dictionary nor statistics and is not compressed: that would take time and save next to nothing.
    """

    schema: pa.Schema
    group: int
    coded: list[str]
    raw: tuple[str, ...]
    documents: Mapping[bytes, bytes]

    @classmethod
    def of(cls, schema: pa.Schema, group: int) -> Layout:
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

    def compression(self, chosen: str) -> str | Mapping[str, str]:
        """Return the compression of each physical column."""
        if not self.raw:
            return chosen
        plain = [name for name in self.schema.names if _is_typed(self.schema.field(name).type)]
        return {**dict.fromkeys((*self.coded, *plain), chosen), **dict.fromkeys(self.raw, "none")}


def _kind(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind) or _is_typed(kind):
        return kind
    return pa.large_list(_TEXTS) if pa.types.is_large_list(kind) else _TEXTS


def _spread(fields: Sequence[pa.Field]) -> frozenset[str]:
    return frozenset(f.name for f in fields if pa.types.is_float64(f.type) or pa.types.is_timestamp(f.type))


def _is_typed(kind: pa.DataType) -> bool:
    numbers = pa.types.is_int64(kind) or pa.types.is_float64(kind)
    return bool(numbers or pa.types.is_date32(kind) or pa.types.is_timestamp(kind))


def _parts(kind: pa.DataType) -> tuple[str, ...]:
    """Return the physical columns below one of a schema; the empty name is the column itself."""
    if pa.types.is_struct(kind):
        return tuple(kind.names)
    return ("list.element",) if pa.types.is_large_list(kind) else ("",)


ROW_GROUP = 1 << 17
_HEAD = 1 << 12
_BYTE = 1 << 7
_TEXTS = pa.dictionary(pa.int32(), pa.string())


class ParquetSink:
    """Writes one file, which must not exist yet.

    Where Arrow may use several threads, one of its own encodes a row group while the next one is gathered.
    """

    def __init__(self, params: ParquetParams, path: Path, names: Sequence[str]) -> None:
        self.names = list(names)
        self._compression = params.compression
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._layout: Layout | None = None
        self._writer: pq.ParquetWriter | None = None
        self._encoder = ThreadPoolExecutor(1, thread_name_prefix="encoder") if pa.cpu_count() > 1 else None
        self._encoding: Future[None] | None = None
        self._file = path.open("xb")

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows; a row group is written whenever one is full."""
        group = self._begun(batch.schema).group
        while batch.num_rows:
            room = group - self._rows
            piece, batch = batch.slice(0, room), batch.slice(room)
            self._waiting.append(piece)
            self._rows += piece.num_rows
            if self._rows == group:
                self._flush()

    def close(self) -> None:
        """Finish and flush to disk."""
        with self._file, self._encoder or contextlib.nullcontext():
            try:
                self._begun(pa.schema([(name, _TEXTS) for name in self.names]))
                if self._rows:
                    self._flush()
                self._encoded()
            finally:
                if self._writer is not None:
                    self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())

    def _begun(self, schema: pa.Schema) -> Layout:
        """Return how columns are laid out, which the first batch decides."""
        if self._layout is None:
            self._layout = Layout.of(schema, ROW_GROUP)
            self._writer = pq.ParquetWriter(
                self._file,
                self._layout.schema,
                compression=self._layout.compression(self._compression),
                use_dictionary=self._layout.coded,
                write_statistics=False,  # rows are shuffled: no row group could be skipped by its extremes
                store_schema=False,
                version="2.6",
            )
            if self._layout.documents:
                self._writer.add_key_value_metadata(dict(self._layout.documents))
        return self._layout

    def _flush(self) -> None:
        if self._layout is None or self._writer is None:
            return
        columns = [_gathered([b.column(i) for b in self._waiting]) for i in range(len(self.names))]
        table = pa.Table.from_arrays(columns, schema=self._layout.schema)
        self._waiting, self._rows = [], 0
        self._encoded()
        encode = partial(self._writer.write_table, table, row_group_size=self._layout.group)
        if self._encoder is None:
            encode()
        else:
            self._encoding = self._encoder.submit(encode)

    def _encoded(self) -> None:
        """Wait for the row group that is being encoded; raise what went wrong with it."""
        encoding, self._encoding = self._encoding, None
        if encoding is not None:
            encoding.result()


def _gathered(pieces: list[pa.Array]) -> pa.Array:
    kind = pieces[0].type
    if pa.types.is_struct(kind) or _is_typed(kind):
        return pa.concat_arrays(pieces)
    if not pa.types.is_large_list(kind):
        return _occurring(pieces)
    offsets = [pa.array([0], pa.int64())]
    values = []
    held = 0
    for piece in pieces:
        begin = piece.offsets[0].as_py()
        size = piece.offsets[len(piece)].as_py() - begin
        offsets.append(pc.add(piece.offsets.slice(1), held - begin))
        values.append(piece.values.slice(begin, size))
        held += size
    return pa.LargeListArray.from_arrays(pa.concat_arrays(offsets), _occurring(values))


def _occurring(pieces: list[pa.Array]) -> pa.DictionaryArray:
    """Return the cells under a dictionary of nothing but what occurs, in order of rows: blocks leave no trace."""
    coded = [_encoded(p) for p in pieces]
    if any(not c.dictionary.equals(coded[0].dictionary) for c in coded[1:]):
        coded = pa.chunked_array(coded, _TEXTS).unify_dictionaries().chunks
    names = coded[0].dictionary
    codes = pa.concat_arrays([c.indices for c in coded])
    rank = None if codes.null_count else _ranked(codes.slice(0, _HEAD).to_numpy(), len(names))
    if rank is not None:
        order = pa.array(np.argsort(rank), pa.int32())
        places = pa.array(rank.take(codes.to_numpy()), pa.int32())
        return pa.DictionaryArray.from_arrays(places, names.take(order), safe=False)
    if len(names) <= _BYTE:
        codes = codes.cast(pa.int8(), safe=False)  # of bytes, what occurs is looked up in a table
    found = codes.dictionary_encode()
    return pa.DictionaryArray.from_arrays(found.indices, names.take(found.dictionary), safe=False)


def _ranked(head: npt.NDArray[np.int32], width: int) -> npt.NDArray[np.int32] | None:
    """Return the place of each code in the order in which they occur, if all are among the first rows; else None."""
    first = np.full(width, len(head))
    first[head[::-1]] = np.arange(len(head) - 1, -1, -1)  # of a code that is there twice the last number stays
    if width > len(head) or (first == len(head)).any():
        return None
    rank = np.empty(width, dtype=np.int32)
    rank[np.argsort(first)] = np.arange(width, dtype=np.int32)
    return rank


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(column.type) and not column.dictionary.null_count:
        return column if column.type == _TEXTS else column.cast(_TEXTS)
    return column.cast(pa.string()).dictionary_encode()
