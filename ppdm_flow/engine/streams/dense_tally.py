"""How often each code of a column occurs, before anything is made of the codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts, summed
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class DenseTally:
    """``numbers`` (width,) say how often each dense code of a column with these categories occurs."""

    categories: pa.StringArray
    numbers: npt.NDArray[np.int64]

    def with_later(self, later: DenseTally) -> DenseTally | None:
        """Return both added up; None where their codes do not stand for the same."""
        if not later.categories.equals(self.categories):
            return None
        return DenseTally(self.categories, self.numbers + later.numbers)

    def counts(self, name: str) -> Counts:
        """Return it as the counts of a column of this name."""
        present = np.flatnonzero(self.numbers)
        codes = Column((present - SPECIALS).astype(np.int32), self.categories)
        return summed(Table({name: codes}, present), [name], self.numbers[present])
