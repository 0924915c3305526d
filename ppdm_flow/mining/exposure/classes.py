"""Equivalence classes over quasi-identifiers, under the three null semantics."""

from __future__ import annotations

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.compatible import compatible_sums
from ppdm_flow.mining.exposure.sizes import Classes
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts


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
