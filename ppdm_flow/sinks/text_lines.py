"""Text files, plain or gzip, written line by line; sets as lines, joined by Arrow."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError


class TextFile:
    """One file, which must not exist yet; gzip where its name ends with ``.gz``."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("xb")
        self._out = _packed(self._file) if path.suffix == ".gz" else self._file

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""
        self._out.write(data)

    def write_lines(self, lines: pa.LargeStringArray) -> None:
        """Append texts, a line each."""
        text = pc.binary_join_element_wise(lines, pa.scalar("\n", lines.type), pa.scalar("", lines.type))
        _, offsets, data = text.buffers()
        bounds = pa.Array.from_buffers(pa.int64(), len(text) + 1, [None, offsets], offset=text.offset)
        if len(text):
            self.write(memoryview(data)[bounds[0].as_py() : bounds[len(text)].as_py()])

    def close(self) -> None:
        """Finish and flush to disk."""
        with self._file:
            if self._out is not self._file:
                self._out.close()
            self._file.flush()
            os.fsync(self._file.fileno())


def _packed(file: IO[bytes]) -> IO[bytes]:
    """Return a gzip stream without a time and a name: the same rows give the same bytes."""
    return cast("IO[bytes]", gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0))


_ROWS = 1 << 17


def lists_of(batch: pa.RecordBatch, kind: str) -> pa.LargeListArray:
    """Return the one column of lists. Raises DataError for anything else: a line has room for one plain set."""
    if batch.num_columns != 1 or not pa.types.is_large_list(batch.column(0).type):
        text = f"`format: {kind}` writes one set of items a line, and nothing else"
        raise DataError(Diagnostic("PPF677", text, help="`format: parquet` writes randomized sets, and other columns"))
    return batch.column(0)


def write_lines(file: TextFile, lists: pa.LargeListArray, written: pa.StringArray, mark: str) -> None:
    """Append one line for each row; ``written`` is the text of each entry of the dictionary of ``lists``."""
    texts = written.cast(pa.large_string())
    for start in range(0, len(lists), _ROWS):
        piece = lists.slice(start, _ROWS)
        begin = piece.offsets[0].as_py()
        values = lists.values.slice(begin, piece.offsets[len(piece)].as_py() - begin)
        rows = pa.LargeListArray.from_arrays(pc.subtract(piece.offsets, begin), texts.take(values.indices))
        lines = pc.binary_join(rows, pa.scalar(mark, pa.large_string()))
        file.write_lines(lines)
