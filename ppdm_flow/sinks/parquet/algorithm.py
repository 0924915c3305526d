"""Parquet: row groups of a fixed size, whose dictionaries hold nothing but the values in use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.sinks.parquet.gathering import gathered
from ppdm_flow.sinks.parquet.layout import TEXTS, RowGroupLayout
from ppdm_flow.sinks.parquet.spec import ParquetSinkParams

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
