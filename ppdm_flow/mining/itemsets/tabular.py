"""Tables as transactions: one item for each value of each attribute, marks for missing and suppressed included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True, eq=False)
class Tabular:
    """``attribute`` and ``code`` (items,): the column and the code, special marks included, of each item.

    Only values that occur are items. They are numbered by descending support (then by column and code), so that the
    same data give the same itemsets in the same order, however the table was read.
    """

    database: ItemDatabase
    attribute: npt.NDArray[np.int32]
    code: npt.NDArray[np.int32]


def tabular(counts: Counts) -> Tabular:
    """Turn the distinct rows of a table into a database whose places are the columns. Raises ValueError for no rows."""
    codes, weights = counts.codes, counts.counts
    widths = np.array([len(names) + SPECIALS for names in counts.categories], dtype=np.int64)
    begin = np.concatenate([[0], np.cumsum(widths)])
    dense = codes.astype(np.int64) + SPECIALS + begin[:-1]
    supports = np.bincount(dense.ravel(), np.repeat(weights, codes.shape[1]), int(begin[-1])).astype(np.int64)
    order = np.argsort(-supports, kind="stable")[: np.count_nonzero(supports)]
    number = np.full(len(supports), -1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    attribute = (np.searchsorted(begin, order, side="right") - 1).astype(np.int32)
    database = ItemDatabase.of_cells(number[dense], attribute, weights)
    return Tabular(database, attribute, (order - begin[attribute] - SPECIALS).astype(np.int32))
