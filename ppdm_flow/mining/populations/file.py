"""A CSV file of people that lies beside a policy, read as texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.records import dataclass
from ppdm_flow.tables.column import MISSING, Column

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PeopleFile:
    """A CSV file with a header. ``name`` is what messages call it, ``lacking`` what they say where columns lack."""

    path: Path
    delimiter: str
    name: str
    lacking: str

    def header(self) -> list[str]:
        """Return the names of its columns. Raises DataError where it cannot be read, or two have one name."""
        names = self._guarded(self._header)
        if len(set(names)) < len(names):
            raise self.unusable("has two columns of one name")
        return names

    def cells(self, columns: Sequence[str]) -> pa.Table:
        """Return these columns as texts, null where a cell is empty. Raises DataError where it has not all of them."""
        return self._guarded(lambda: self._cells(list(dict.fromkeys(columns))))

    def unusable(self, what: str) -> DataError:
        """Return what is wrong with the file, which must not quote a cell."""
        return DataError(Diagnostic("PPF878", f"the {self.name} {what}"))

    def _header(self) -> list[str]:
        with pa.csv.open_csv(self.path, parse_options=pa.csv.ParseOptions(delimiter=self.delimiter)) as reader:
            names: list[str] = reader.schema.names
        return names

    def _cells(self, columns: list[str]) -> pa.Table:
        convert = pa.csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()),
            include_columns=columns,
            null_values=[""],
            strings_can_be_null=True,
        )
        parse = pa.csv.ParseOptions(delimiter=self.delimiter)
        return pa.csv.read_csv(self.path, parse_options=parse, convert_options=convert)

    def _guarded(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except OSError:
            raise self.unusable("cannot be opened") from None
        except (pa.ArrowInvalid, KeyError):  # its message may quote a cell
            raise self.unusable(self.lacking) from None


def coded(cells: pa.ChunkedArray) -> Column:
    """Return a column of these texts."""
    encoded = cells.combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(MISSING).to_numpy(zero_copy_only=False).astype(np.int32)
    return Column(codes, encoded.dictionary)
