"""The number of rows that look alike: classes, or crowds where columns mix grouping with sensitive attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.exposure.compatible import compatible_sums
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.ground import CountLayout, ground
from ppdm_flow.mining.exposure.histograms import MixedCrowds
from ppdm_flow.mining.exposure.query import ClassQuery
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts

SIZE = "SELECT id, size AS v FROM sizes"


@dataclass(frozen=True, slots=True, eq=False)
class CombinationSizes:
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


def crowds(columns: RevealingColumns, rows: CountedRows, nulls: Nulls) -> CombinationSizes:
    """Return the crowds of columns some of which are mixed. Raises UnmeasuredError where nulls are wildcards."""
    require_pairs_of_nulls(columns, nulls)
    by_row = MixedCrowds(ground(rows, CountLayout.of(columns, None, rows.leading, nulls)))
    return CombinationSizes(by_row.rows, by_row.sizes, by_row.ground.left_out)


def crowds_sql(columns: RevealingColumns, rows: CountedRows, sql: Sql, nulls: Nulls) -> CombinationSizes:
    """Return the same by the second route. Raises UnmeasuredError as above."""
    sizes, own = ClassQuery.of_rows(sql, rows, columns, None, nulls).figures(SIZE)
    return CombinationSizes(np.rint(own).astype(np.int64), np.rint(sizes).astype(np.int64))


def classes(counts: Counts, nulls: Nulls) -> CombinationSizes:
    """Group the rows behind ``counts``; combinations that stand for no row (weight 0) are none.

    ``own_category``: missing is one more value. ``wildcard``: the size of a row is that of its crowd, the rows
    that contradict it nowhere and are missing wherever it is. ``exclude``: rows with a missing value are left out.
    """
    occurs = counts.counts > 0
    codes, rows = counts.codes[occurs], counts.counts[occurs]
    if nulls is Nulls.OWN_CATEGORY:
        return CombinationSizes(rows, rows)
    if nulls is Nulls.WILDCARD:
        return CombinationSizes(rows, compatible_sums(codes, rows[:, None])[:, 0])
    known = ~(codes == MISSING).any(axis=1)
    return CombinationSizes(rows[known], rows[known], int(rows[~known].sum()))
