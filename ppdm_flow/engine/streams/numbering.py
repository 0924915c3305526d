"""The numbers of single rows of a weighted table, which do not depend on partitions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table


class Numbering:
    """The number of each source row's first copy: the sum of the weights of all rows before it.

    That of a fragment begins with its first row, whose first copy has the number ``copies``.
    """

    def __init__(self, weight: str, copies: int = 0) -> None:
        self.weight = weight
        self._begin = 0
        self._copies = copies
        self._pieces: list[npt.NDArray[np.int64]] = []
        self._starts: npt.NDArray[np.int64] | None = None
        self._rows = 0

    def look(self, table: Table) -> None:
        """Take in the next partition of the source."""
        if len(table):
            if not self._pieces:
                self._begin = self._rows = int(table.rows[0])
            end = int(table.rows[-1]) + 1
            piece = np.zeros(end - self._rows, dtype=np.int64)
            piece[table.rows - self._rows] = weights_of(table[self.weight])
            self._pieces.append(piece)
            self._rows = end

    def add(self, later: Numbering) -> None:
        """Take in the rows that follow, which ``later`` saw under the numbers that they have in the whole."""
        if later._pieces:
            if not self._pieces:
                self._begin = self._rows = later._begin
            self._pieces += [np.zeros(later._begin - self._rows, dtype=np.int64), *later._pieces]
            self._rows = later._rows

    def first(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the number of the first copy of each row; of one behind the last, that of the next copy."""
        if self._starts is None:
            weights = np.concatenate([np.full(1, self._copies, dtype=np.int64), *self._pieces])
            self._starts = np.cumsum(weights)
            self._pieces = []
        return self._starts[np.clip(rows - self._begin, 0, len(self._starts) - 1)]
