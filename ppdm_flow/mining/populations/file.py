"""A CSV file of people that lies beside a policy, read as texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.csv_texts import csv_header, csv_texts

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
        names = self._guarded(lambda: csv_header(self.path, self.delimiter))
        if len(set(names)) < len(names):
            raise self.unusable("has two columns of one name")
        return names

    def cells(self, columns: Sequence[str]) -> pa.Table:
        """Return these columns as texts, null where a cell is empty. Raises DataError where it has not all of them."""
        return self._guarded(lambda: csv_texts(self.path, self.delimiter, columns))

    def unusable(self, what: str) -> DataError:
        """Return what is wrong with the file, which must not quote a cell."""
        return DataError(Diagnostic("PPF878", f"the {self.name} {what}"))

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
