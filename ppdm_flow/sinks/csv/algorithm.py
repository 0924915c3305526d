"""CSV: cells are quoted where they must be, on their dictionaries, and rows joined by Arrow; `.gz` is compressed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sinks.csv.spec import CsvParams
from ppdm_flow.sinks.text_lines import TextFile
from ppdm_flow.tables.formulas import escaped

_ROWS = 1 << 16


class CsvSink:
    """Writes one file, which must not exist yet."""

    def __init__(self, params: CsvParams, path: Path, names: Sequence[str]) -> None:
        self.delimiter = params.delimiter
        self._escapes = params.formulas == "escape"
        self._file = TextFile(path)
        header = self._quoted(pa.array(list(names), pa.string()))
        self._file.write(self.delimiter.join(header.to_pylist()).encode() + b"\n")

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows."""
        columns = [self._coded(column) for column in batch.columns]
        for start in range(0, batch.num_rows, _ROWS):
            self._append([texts.take(places.slice(start, _ROWS)).fill_null("") for texts, places in columns])

    def close(self) -> None:
        """Finish and flush to disk."""
        self._file.close()

    def _append(self, cells: list[pa.LargeStringArray]) -> None:
        self._file.write_lines(pc.binary_join_element_wise(*cells, pa.scalar(self.delimiter, pa.large_string())))

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
