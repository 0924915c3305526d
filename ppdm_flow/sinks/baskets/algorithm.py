"""Baskets: names are quoted once each, and joined by Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.sinks.baskets.spec import BasketsSinkParams
from ppdm_flow.sinks.text_lines import TextFile, lists_of, write_lines


class BasketsSink:
    """Writes one file, which must not exist yet."""

    def __init__(self, params: BasketsSinkParams, path: Path, _names: Sequence[str]) -> None:
        self.delimiter = params.delimiter
        self._file = TextFile(path)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows. Raises DataError for a name that has no place in such a line."""
        lists = lists_of(batch, "baskets")
        write_lines(self._file, lists, self._quoted(lists.values.dictionary), self.delimiter)

    def close(self) -> None:
        """Finish and flush to disk."""
        self._file.close()

    def _quoted(self, names: pa.StringArray) -> pa.StringArray:
        """Quote names with a delimiter, quote or blank at an end."""
        unfit = pc.or_(pc.equal(names, ""), pc.match_substring_regex(names, "[\\r\\n\\x00]"))
        if len(names) and pc.any(unfit).as_py():
            text = "an item is the empty text, or holds a line end: a line of `format: baskets` has no place for it"
            raise DataError(Diagnostic("PPF677", text, help="`format: parquet` takes every name"))
        special = pc.match_substring_regex(names, "^[ \\t]|[ \\t]$")
        for mark in (self.delimiter, '"'):
            special = pc.or_(special, pc.match_substring(names, mark))
        wrapped = pc.binary_join_element_wise('"', pc.replace_substring(names, '"', '""'), '"', "")
        return pc.if_else(special, wrapped, names)
