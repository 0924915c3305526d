"""Parquet: row groups of a fixed size, whose dictionaries hold nothing but the values in use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from ppdm_flow.sdk.storage import Submit
from ppdm_flow.sinks.parquet.gathering import gathered
from ppdm_flow.sinks.parquet.layout import TEXTS, Layout
from ppdm_flow.sinks.parquet.row_groups import RowGroups
from ppdm_flow.sinks.parquet.spec import ParquetParams

ROW_GROUP = 1 << 17


class ParquetSink:
    """Writes one file, which must not exist yet; several threads may encode row groups at once."""

    def __init__(self, params: ParquetParams, path: Path, names: Sequence[str]) -> None:
        self.names = list(names)
        self._compression = params.compression
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._layout: Layout | None = None
        self._is_empty = True
        self._has_failed = False
        self._file = path.open("xb")
        self._groups = RowGroups(self._file)

    def share(self, submit: Submit, threads: int) -> None:
        """Have ``submit`` encode row groups, ``threads`` at once."""
        self._groups.share(submit, threads)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows; a row group is encoded whenever one is full."""
        layout = self._layout = self._layout or Layout.of(batch.schema, ROW_GROUP)
        while batch.num_rows:
            room = layout.group - self._rows
            piece, batch = batch.slice(0, room), batch.slice(room)
            self._waiting.append(piece)
            self._rows += piece.num_rows
            if self._rows == layout.group:
                self._flush(layout)

    def close(self) -> None:
        """Finish and flush to disk; a file that failed is left as it is."""
        with self._file:
            try:
                if self._has_failed:
                    return
                layout = self._layout or Layout.of(pa.schema([(name, TEXTS) for name in self.names]), ROW_GROUP)
                if self._rows or self._is_empty:
                    self._flush(layout)
                self._groups.finish()
            finally:
                self._groups.close()
            self._file.flush()
            os.fsync(self._file.fileno())

    def _flush(self, layout: Layout) -> None:
        """Have the waiting rows encoded: none make a file with names alone."""
        job = partial(_encoded, layout, self._compression, self._waiting)
        size = sum(batch.nbytes for batch in self._waiting)
        self._waiting, self._rows, self._is_empty = [], 0, False
        self._has_failed = True
        self._groups.add(job, size)
        self._has_failed = False


def _encoded(layout: Layout, compression: str, batches: list[pa.RecordBatch]) -> pa.Buffer:
    """Return a Parquet file of the rows."""
    out = pa.BufferOutputStream()
    with layout.writer(out, compression) as writer:
        if batches:
            columns = [gathered([b.column(i) for b in batches]) for i in range(len(layout.schema))]
            table = pa.Table.from_arrays(columns, schema=layout.schema)
            writer.write_table(table, row_group_size=layout.group)
    return out.getvalue()
