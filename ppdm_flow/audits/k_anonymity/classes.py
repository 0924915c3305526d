"""Equivalence classes over quasi-identifiers, under the three null semantics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.compatible import compatible_sums
from ppdm_flow.core.roles import Nulls
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """``rows`` (combinations,): how many rows each has; ``sizes``: how many each is among, itself included.

    ``left_out`` counts the rows that the null semantics leave out.
    """

    rows: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    left_out: int = 0

    @property
    def k(self) -> int:
        """The smallest size; 0 where there is no row."""
        return int(self.sizes.min()) if len(self.sizes) else 0

    def rows_below(self, k: int) -> int:
        """Return the number of rows that are among fewer than ``k``, themselves included."""
        return int(self.rows[self.sizes < k].sum())

    @property
    def uniques(self) -> int:
        """The number of rows that are like no other."""
        return int(self.rows[self.sizes == 1].sum())


def classes(counts: Counts, nulls: Nulls) -> Classes:
    """Group the rows behind ``counts``; combinations that stand for no row (weight 0) are none.

    ``own_category``: missing is one more value. ``wildcard``: the size of a row is that of its crowd, the rows
    that contradict it nowhere and are missing wherever it is. ``exclude``: rows with a missing value are left out.
    """
    occurs = counts.counts > 0
    codes, rows = counts.codes[occurs], counts.counts[occurs]
    if nulls is Nulls.OWN_CATEGORY:
        return Classes(rows, rows)
    if nulls is Nulls.WILDCARD:
        return Classes(rows, compatible_sums(codes, rows[:, None])[:, 0])
    known = ~(codes == MISSING).any(axis=1)
    return Classes(rows[known], rows[known], int(rows[~known].sum()))
