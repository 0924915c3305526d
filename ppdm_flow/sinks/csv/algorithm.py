"""CSV: texts are quoted where they must be, on their dictionaries, and rows joined by Arrow; `.gz` is compressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sinks.csv.spec import CsvSinkParams
from ppdm_flow.sinks.text_lines import TextFile
from ppdm_flow.tables.formulas import escaped
from ppdm_flow.tables.numeric.column import texts_of_arrow as numbers_of

_ROWS = 1 << 16


_SIGNS = "0123456789+-.:eT"
"""What the text of a number, date or timestamp is made of."""


@dataclass(frozen=True, slots=True)
class _Texts:
    """Distinct texts as they are written, and where each row's stands among them."""

    texts: pa.LargeStringArray
    places: pa.Array

    def written(self, start: int) -> pa.LargeStringArray:
        return self.texts.take(self.places.slice(start, _ROWS)).fill_null("")


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers, which are written as they are."""

    column: pa.Array

    def written(self, start: int) -> pa.LargeStringArray:
        return numbers_of(self.column.slice(start, _ROWS)).cast(pa.large_string()).fill_null("")


def _is_typed(kind: pa.DataType) -> bool:
    return not (pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))


class CsvSink:
    """Writes one file, which must not exist yet."""

    def __init__(self, params: CsvSinkParams, path: Path, names: Sequence[str]) -> None:
        self.delimiter = params.delimiter
        self._escapes = params.formulas == "escape"
        self._file = TextFile(path)
        header = self._quoted(pa.array(list(names), pa.string()))
        self._file.write(self.delimiter.join(header.to_pylist()).encode() + b"\n")

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows."""
        columns = [self._numbers(column) if _is_typed(column.type) else self._coded(column) for column in batch.columns]
        for start in range(0, batch.num_rows, _ROWS):
            self._append([column.written(start) for column in columns])

    def close(self) -> None:
        """Finish and flush to disk."""
        self._file.close()

    def _append(self, cells: list[pa.LargeStringArray]) -> None:
        self._file.write_lines(pc.binary_join_element_wise(*cells, pa.scalar(self.delimiter, pa.large_string())))

    def _coded(self, column: pa.Array) -> _Texts:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        return _Texts(self._quoted(coded.dictionary.cast(pa.string())).cast(pa.large_string()), coded.indices)

    def _numbers(self, column: pa.Array) -> _Texts | _Numbers:
        """Numbers are quoted where the delimiter is a sign that they are written with."""
        return self._coded(numbers_of(column)) if self.delimiter in _SIGNS else _Numbers(column)

    def _quoted(self, texts: pa.StringArray) -> pa.StringArray:
        """Quote the empty text, and texts with a delimiter, quote or line end (RFC 4180, section 2, rules 6 and 7)."""
        texts = escaped(texts) if self._escapes else texts
        special = pc.equal(texts, "")
        for mark in (self.delimiter, '"', "\n", "\r"):
            special = pc.or_(special, pc.match_substring(texts, mark))
        doubled = pc.replace_substring(texts, '"', '""')
        wrapped = pc.binary_join_element_wise('"', doubled, '"', "")
        return pc.if_else(special, wrapped, texts)
