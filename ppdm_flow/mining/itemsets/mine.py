"""Frequent itemsets of a database: the entry to both searches."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets import closed, frequent
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.output import ItemsetOutput, sort_within
from ppdm_flow.mining.itemsets.search import RankedRows, prepare, prepare_rows

MOST_SETS = 50_000_000
ITEMS_A_SET = 12
"""How many items the itemsets may have on average, where there are as many as are looked for: what memory holds."""


def least_rows(minimum: float, rows: int) -> int:
    """Turn a minimum support into a count: itself where it is an integer, else a share of ``rows``, rounded up.

    Raises ValueError for a count below 1 and a share outside of (0, 1].
    """
    if isinstance(minimum, int):
        if minimum < 1:
            raise ValueError(f"a minimum support in rows must be at least 1, got {minimum!r}")
        return minimum
    if not 0 < minimum <= 1:
        raise ValueError(f"a minimum support given as a share must be in (0, 1], got {minimum!r}")
    return max(1, math.ceil(minimum * rows * (1 - 1e-12)))


def mine(
    database: ItemDatabase,
    min_support: float,
    *,
    only_closed: bool = False,
    min_length: int = 1,
    max_length: int | None = None,
    most: int = MOST_SETS,
) -> ItemsetCollection:
    """Return the itemsets that at least ``min_support`` rows have (an int is a count, a float a share of the rows).

    ``only_closed``: those without a superset of equal support. ``most`` bounds how many are looked for: PluginError
    PPF775 if there are more, or as many items in them as memory holds. None are found, rightly, where ``min_support``
    is above the number of rows. Unordered.
    """
    least = least_rows(min_support, database.rows)
    longest = database.cells.shape[1] if max_length is None else max_length
    if longest < 1 or min_length > longest or not (database.supports >= least).any():
        return _nothing()
    return _searched(*prepare(database, least, longest), only_closed, most).of_length(min_length)


def mine_transactions(
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
    min_support: float,
    *,
    alphabet: int | None = None,
    only_closed: bool = False,
    min_length: int = 1,
    max_length: int | None = None,
    most: int = MOST_SETS,
) -> ItemsetCollection:
    """Do what :func:`mine` does with transactions as they come: fast where rows are many and short.

    Row r has ``items[offsets[r]:offsets[r + 1]]``; repeated items count once. Raises ValueError for no rows, and for an
    item below 0 or not below ``alphabet``.
    """
    rows = len(offsets) - 1
    size = int(items.max(initial=-1)) + 1 if alphabet is None else alphabet
    if rows < 1:
        raise ValueError("a database without rows cannot be mined: offsets must have at least 2 entries")
    if len(items) and (items.min() < 0 or items.max() >= size):
        raise ValueError(f"items must be from 0 to {size - 1}: one is outside of the alphabet")
    least = least_rows(min_support, rows)
    offsets, items = _distinct(offsets, items, size)
    supports = np.bincount(items, minlength=size).astype(np.int64)
    longest = int(np.diff(offsets).max()) if max_length is None else max_length
    if longest < 1 or min_length > longest or not (supports >= least).any():
        return _nothing()
    return _searched(*prepare_rows(offsets, items, supports, least, longest), only_closed, most).of_length(min_length)


def _distinct(
    offsets: npt.NDArray[np.int64], items: npt.NDArray[np.int32], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the rows with each item once; as they are where items ascend in each row."""
    rising = items[1:] > items[:-1]
    rising[offsets[(offsets > 0) & (offsets < len(items))] - 1] = True
    if rising.all():
        return offsets, items
    rows = np.arange(len(offsets) - 1)
    keys = np.sort(np.repeat(rows * size, np.diff(offsets)) + items)
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    return np.searchsorted(keys, np.arange(len(offsets)) * size).astype(np.int64), (keys % size).astype(np.int32)


def _searched(data: RankedRows, item_of: npt.NDArray[np.int32], only_closed: bool, most: int) -> ItemsetCollection:
    search: Callable[[RankedRows, ItemsetOutput], ItemsetOutput] = closed.search if only_closed else frequent.search
    out = search(data, _room(most))
    sets, filled = int(out.used[0]), int(out.used[1])
    if sets > most or filled >= int(out.used[3]):
        raise too_many(most, data.least)
    items, ends = item_of[out.items[:filled]], out.ends[:sets]
    sort_within(items, ends)
    return ItemsetCollection(np.concatenate([[0], ends]), items, out.supports[:sets].copy())


def too_many(most: int, least: int) -> PluginError:
    """Build the error for more itemsets than fit in memory."""
    return PluginError(
        Diagnostic(
            "PPF775",
            f"more than {most} itemsets, or very long ones, have a support of at least {least}",
            help="raise the minimum support, take closed itemsets, bound their length, or use SLIM",
        )
    )


def _nothing() -> ItemsetCollection:
    none: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    return ItemsetCollection(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none)


def _room(most: int) -> ItemsetOutput:
    return ItemsetOutput(
        np.empty(4096, dtype=np.int32),
        np.empty(1024, dtype=np.int64),
        np.empty(1024, dtype=np.int64),
        np.array([0, 0, most + 1, ITEMS_A_SET * max(most, 1 << 16)], dtype=np.int64),
    )
