"""Parquet: row groups of a fixed size, whose dictionaries hold nothing but the values in use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ppdm_flow.sdk.storage import Submit
from ppdm_flow.sinks.parquet.gathering import gathered
from ppdm_flow.sinks.parquet.layout import TEXTS, Layout
from ppdm_flow.sinks.parquet.row_groups import RowGroups
from ppdm_flow.sinks.parquet.spec import ParquetParams

ROW_GROUP = 1 << 17


class ParquetSink:
    """Writes one file, which must not exist yet: row group by row group, or several at once where threads are lent."""

    def __init__(self, params: ParquetParams, path: Path, names: Sequence[str]) -> None:
        self.names = list(names)
        self._compression = params.compression
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._layout: Layout | None = None
        self._has_failed = False
        self._file = path.open("xb")
        self._writer: pq.ParquetWriter | None = None
        self._groups: RowGroups | None = None

    def share(self, submit: Submit, threads: int) -> None:
        """Have ``submit`` encode row groups, ``threads`` at once."""
        self._groups = RowGroups(self._file, submit, threads)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows; a row group is encoded whenever one is full."""
        layout = self._begun(batch.schema)
        while batch.num_rows:
            room = layout.group - self._rows
            piece, batch = batch.slice(0, room), batch.slice(room)
            self._waiting.append(piece)
            self._rows += piece.num_rows
            if self._rows == layout.group:
                self._flush(layout)

    def close(self) -> None:
        """Finish and flush to disk; a file that failed is left as it is."""
        with self._file, contextlib.closing(self._groups) if self._groups else contextlib.nullcontext():
            try:
                layout = self._begun(pa.schema([(name, TEXTS) for name in self.names]))
                if not self._has_failed:
                    if self._rows:
                        self._flush(layout)
                    if self._groups:
                        self._groups.finish(partial(_encoded, layout, self._compression, []))
            finally:
                if self._writer is not None:
                    self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())

    def _begun(self, schema: pa.Schema) -> Layout:
        """Return how columns are laid out, which the first batch decides."""
        if self._layout is None:
            self._layout = Layout.of(schema, ROW_GROUP)
            if self._groups is None:
                self._writer = self._layout.writer(self._file, self._compression)
        return self._layout

    def _flush(self, layout: Layout) -> None:
        """Encode the waiting rows, or have them encoded."""
        batches, self._waiting, self._rows = self._waiting, [], 0
        self._has_failed = True
        if self._groups is not None:
            size = sum(batch.nbytes for batch in batches)
            self._groups.add(partial(_encoded, layout, self._compression, batches), size)
        elif self._writer is not None:
            self._writer.write_table(_row_group(layout, batches), row_group_size=layout.group)
        self._has_failed = False


def _encoded(layout: Layout, compression: str, batches: list[pa.RecordBatch]) -> pa.Buffer:
    """Return a Parquet file of the rows: one row group, or with no rows none."""
    out = pa.BufferOutputStream()
    with layout.writer(out, compression) as writer:
        if batches:
            writer.write_table(_row_group(layout, batches), row_group_size=layout.group)
    return out.getvalue()


def _row_group(layout: Layout, batches: list[pa.RecordBatch]) -> pa.Table:
    columns = [gathered([b.column(i) for b in batches]) for i in range(len(layout.schema))]
    return pa.Table.from_arrays(columns, schema=layout.schema)
