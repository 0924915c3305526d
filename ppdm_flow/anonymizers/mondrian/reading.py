"""What the partition is of: distinct rows, or the rows one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts, weights_of
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """``counts`` of distinct rows or, with their numbers ``rows`` (items,), of single ones.

    ``persons`` (items,), ascending: whose row each is, where people count.
    """

    counts: Counts
    rows: Ints
    persons: Ints | None = None


def by_row_or_value(data: DataView, columns: list[str], *, by_row: bool) -> Read:
    """Return distinct rows; ``by_row``: the rows in ascending order of their numbers."""
    if not by_row:
        return Read(data.counts(columns), np.zeros(0, dtype=np.int64))
    weight = data.schema.weight
    table = data.table(list(dict.fromkeys([*columns, *([weight] if weight else [])])))
    table = table.take(np.argsort(table.rows))
    weights = weights_of(table[weight]) if weight else np.ones(len(table), dtype=np.int64)
    return Read(single(table, columns, weights), table.rows)


def single(table: Table, columns: list[str], weights: Ints) -> Counts:
    """Return rows one by one in the form of counts."""
    cells = [table[c].compact() for c in columns]
    codes = np.stack([c.codes for c in cells], axis=1)
    return Counts(tuple(columns), tuple(c.categories for c in cells), codes, weights)
