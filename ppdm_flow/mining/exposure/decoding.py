"""What a cell stands for: how likely each value of the source is, among the released rows that show the cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.exposure.sparse import as_cells, of_cells, scaled, summed
from ppdm_flow.tables.column import SPECIALS

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """``shares`` (cells, values) is P(value | cell), sparse; values are dense codes into ``names``."""

    shares: Any
    names: pa.StringArray

    @classmethod
    def of(cls, cell: Ints, value: npt.NDArray[np.int32], rows: Ints, names: pa.StringArray) -> Code:
        """Learn it from the rows of each (cell, value); ``value`` are codes, ``cell`` are numbers from 0."""
        shape = int(cell.max(initial=-1)) + 1, len(names) + SPECIALS
        together = summed(rows, cell, value.astype(np.int64) + SPECIALS, shape)
        totals = np.bincount(cell, rows, shape[0])
        return cls(scaled(together, 1.0 / np.maximum(totals, 1.0)), names)

    @property
    def ambiguous(self) -> bool:
        """Whether some value is behind several cells: then the rows that show them share it."""
        return bool((np.bincount(self.shares.indices, minlength=self.shares.shape[1]) > 1).any())

    def decoded(self, found: Histograms) -> Histograms:
        """Return the histograms of values for those of cells, whose numbers are their codes."""
        cells = found.cells
        shown = of_cells(cells, self.shares.shape[0], SPECIALS)
        base = np.asarray(found.base[SPECIALS:] @ self.shares)
        return replace(
            found, cells=as_cells(shown @ self.shares), base=base, names=self.names, behind=self, shown=cells
        )
