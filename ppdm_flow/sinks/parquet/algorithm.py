"""Parquet: row groups of a fixed size, whose dictionaries hold nothing but the values in use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.sinks.parquet.spec import ParquetParams

ROW_GROUP = 1 << 17
_TEXTS = pa.dictionary(pa.int32(), pa.string())


class ParquetSink:
    """Writes one file, which must not exist yet."""

    def __init__(self, params: ParquetParams, path: Path, names: Sequence[str]) -> None:
        self.names = list(names)
        self._schema = pa.schema([(name, _TEXTS) for name in names])
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._file = path.open("xb")
        self._writer = pq.ParquetWriter(
            self._file, self._schema, compression=params.compression, store_schema=False, version="2.6"
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows; a row group is written whenever one is full."""
        while batch.num_rows:
            room = ROW_GROUP - self._rows
            piece, batch = batch.slice(0, room), batch.slice(room)
            self._waiting.append(piece)
            self._rows += piece.num_rows
            if self._rows == ROW_GROUP:
                self._flush()

    def close(self) -> None:
        """Finish and flush to disk."""
        with self._file:
            if self._rows:
                self._flush()
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())

    def _flush(self) -> None:
        columns = [_occurring([b.column(i) for b in self._waiting]) for i in range(len(self.names))]
        table = pa.Table.from_arrays(columns, schema=self._schema)
        self._waiting, self._rows = [], 0
        self._writer.write_table(table, row_group_size=ROW_GROUP)


def _occurring(pieces: list[pa.Array]) -> pa.DictionaryArray:
    """Return the cells under a dictionary of nothing but what occurs, in order of rows: blocks leave no trace."""
    whole = pa.chunked_array([_encoded(p) for p in pieces], _TEXTS).unify_dictionaries().combine_chunks()
    places = whole.indices.dictionary_encode()
    return pa.DictionaryArray.from_arrays(places.indices, whole.dictionary.take(places.dictionary))


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(column.type) and not column.dictionary.null_count:
        return column.cast(_TEXTS)
    return column.cast(pa.string()).dictionary_encode()
