"""Two tables over one alphabet: the same item is the same value of the same column in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.tables.column import SPECIALS, Column, union
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True, eq=False)
class UnitedTables:
    """``databases`` share their items. ``attribute`` and ``code`` (items,): what an item stands for.

    Codes, special marks included, point into ``categories`` of the columns. Items are numbered by descending support
    in the first table that has them (then by column and code): those of the first are numbered as
    :func:`ppdm_flow.mining.itemsets.tabular.tabular` numbers them.
    """

    databases: tuple[ItemDatabase, ...]
    attribute: npt.NDArray[np.int32]
    code: npt.NDArray[np.int32]
    categories: tuple[pa.StringArray, ...]


def united(tables: Sequence[Counts]) -> UnitedTables:
    """Turn the distinct rows of tables into databases over one alphabet; columns are matched by their place.

    Raises ValueError for no tables, one without rows, and unlike numbers of columns.
    """
    if not tables or len({len(t.columns) for t in tables}) != 1:
        raise ValueError("both tables must have the same columns")
    categories = tuple(union(t.categories[i] for t in tables) for i in range(len(tables[0].columns)))
    begin = np.concatenate([[0], np.cumsum([len(names) + SPECIALS for names in categories])]).astype(np.int64)
    dense = [_dense(t, categories, begin) for t in tables]
    supports = [_supports(d, t.counts, int(begin[-1])) for d, t in zip(dense, tables, strict=True)]
    order = _order(supports)
    number = np.full(int(begin[-1]), -1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    attribute = (np.searchsorted(begin, order, side="right") - 1).astype(np.int32)
    databases = tuple(ItemDatabase.of_cells(number[d], attribute, t.counts) for d, t in zip(dense, tables, strict=True))
    return UnitedTables(databases, attribute, (order - begin[attribute] - SPECIALS).astype(np.int32), categories)


def _dense(table: Counts, categories: Sequence[pa.StringArray], begin: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Number the cells, special marks included, over all columns."""
    numbers = np.empty(table.codes.shape, dtype=np.int64)
    for i, names in enumerate(categories):
        codes = Column(np.ascontiguousarray(table.codes[:, i]), table.categories[i]).onto(names).codes
        numbers[:, i] = codes + SPECIALS + begin[i]
    return numbers


def _supports(dense: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    supports = np.zeros(size, dtype=np.int64)
    for column in dense.T:
        supports += np.bincount(column, weights, size).astype(np.int64)
    return supports


def _order(supports: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return the items that occur: those of the first table by descending support, then the next one's own."""
    new = np.ones(len(supports[0]), dtype=np.bool_)
    order = []
    for support in supports:
        here = np.flatnonzero(new & (support > 0))
        order.append(here[np.argsort(-support[here], kind="stable")])
        new[here] = False
    return np.concatenate(order)
