"""CSV: cells are quoted where they must be, on their dictionaries, and rows joined by Arrow; `.gz` is compressed."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sinks.csv.spec import CsvParams
from ppdm_flow.tables.formulas import escaped

_ROWS = 1 << 16


class CsvSink:
    """Writes one file, which must not exist yet."""

    def __init__(self, params: CsvParams, path: Path, names: Sequence[str]) -> None:
        self.delimiter = params.delimiter
        self._escapes = params.formulas == "escape"
        self._file: IO[bytes] = path.open("xb")
        self._out = _packed(self._file) if path.suffix == ".gz" else self._file
        header = self._quoted(pa.array(list(names), pa.string()))
        self._out.write(self.delimiter.join(header.to_pylist()).encode() + b"\n")

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows."""
        columns = [self._coded(column) for column in batch.columns]
        for start in range(0, batch.num_rows, _ROWS):
            self._append([texts.take(places.slice(start, _ROWS)).fill_null("") for texts, places in columns])

    def close(self) -> None:
        """Finish and flush to disk."""
        with self._file:
            if self._out is not self._file:
                self._out.close()
            self._file.flush()
            os.fsync(self._file.fileno())

    def _append(self, cells: list[pa.LargeStringArray]) -> None:
        last = pa.scalar("\n", pa.large_string())
        lines = pc.binary_join_element_wise(*cells, pa.scalar(self.delimiter, pa.large_string()))
        text = pc.binary_join_element_wise(lines, last, pa.scalar("", pa.large_string()))
        _, offsets, data = text.buffers()
        bounds = pa.Array.from_buffers(pa.int64(), len(text) + 1, [None, offsets], offset=text.offset)
        self._out.write(memoryview(data)[bounds[0].as_py() : bounds[len(text)].as_py()])

    def _coded(self, column: pa.Array) -> tuple[pa.LargeStringArray, pa.Array]:
        """Return the distinct texts as they are written, and where each row's stands among them."""
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        return self._quoted(coded.dictionary.cast(pa.string())).cast(pa.large_string()), coded.indices

    def _quoted(self, texts: pa.StringArray) -> pa.StringArray:
        """Quote the empty text, and texts with a delimiter, quote or line end (RFC 4180, section 2, rules 6 and 7)."""
        texts = escaped(texts) if self._escapes else texts
        special = pc.equal(texts, "")
        for mark in (self.delimiter, '"', "\n", "\r"):
            special = pc.or_(special, pc.match_substring(texts, mark))
        doubled = pc.replace_substring(texts, '"', '""')
        wrapped = pc.binary_join_element_wise('"', doubled, '"', "")
        return pc.if_else(special, wrapped, texts)


def _packed(file: IO[bytes]) -> IO[bytes]:
    """Return a gzip stream without a time and a name: the same rows give the same bytes."""
    return cast("IO[bytes]", gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0))
