"""FIMI: items must be numbers, and keep their text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.sinks.text_lines import TextFile, lists_of, write_lines
from ppdm_flow.sinks.transactions.spec import TransactionsSinkParams

_NUMBER = r"^(0|[1-9][0-9]{0,17})$"


class TransactionsSink:
    """Writes one file, which must not exist yet."""

    def __init__(self, _params: TransactionsSinkParams, path: Path, _names: Sequence[str]) -> None:
        self._file = TextFile(path)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows. Raises DataError where an item is no number."""
        lists = lists_of(batch, "transactions")
        names = lists.values.dictionary
        if not pc.all(pc.match_substring_regex(names, _NUMBER)).as_py() and len(names):
            text = "an item is not a whole number, as `format: transactions` needs"
            raise DataError(Diagnostic("PPF677", text, help="names are `format: baskets`"))
        write_lines(self._file, lists, names, " ")

    def close(self) -> None:
        """Finish and flush to disk."""
        self._file.close()
