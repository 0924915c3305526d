"""Parquet: row groups of a fixed size, whose dictionaries hold nothing but the values in use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ppdm_flow.sinks.parquet.layout import Layout
from ppdm_flow.sinks.parquet.spec import ParquetParams

ROW_GROUP = 1 << 17
_TEXTS = pa.dictionary(pa.int32(), pa.string())


class ParquetSink:
    """Writes one file, which must not exist yet."""

    def __init__(self, params: ParquetParams, path: Path, names: Sequence[str]) -> None:
        self.names = list(names)
        self._compression = params.compression
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._layout: Layout | None = None
        self._writer: pq.ParquetWriter | None = None
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
        with self._file:
            self._begun(pa.schema([(name, _TEXTS) for name in self.names]))
            if self._rows:
                self._flush()
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
        self._writer.write_table(table, row_group_size=self._layout.group)


def _gathered(pieces: list[pa.Array]) -> pa.Array:
    kind = pieces[0].type
    if pa.types.is_struct(kind):
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
    whole = pa.chunked_array([_encoded(p) for p in pieces], _TEXTS).unify_dictionaries().combine_chunks()
    places = whole.indices.dictionary_encode()
    return pa.DictionaryArray.from_arrays(places.indices, whole.dictionary.take(places.dictionary))


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(column.type) and not column.dictionary.null_count:
        return column.cast(_TEXTS)
    return column.cast(pa.string()).dictionary_encode()
