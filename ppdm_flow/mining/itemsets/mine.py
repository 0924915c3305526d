"""Frequent itemsets of a database: the entry to both searches."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets import closed, frequent
from ppdm_flow.mining.itemsets.collection import Itemsets
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.itemsets.output import Output, sort_within
from ppdm_flow.mining.itemsets.search import Data, prepare

MOST_SETS = 50_000_000


def least_rows(minimum: float, rows: int) -> int:
    """Turn a minimum support into a count: itself where it is an integer, else a share of ``rows``, rounded up.

    Raises ValueError for a count below 1 and a share outside of (0, 1].
    """
    if isinstance(minimum, int):
        if minimum < 1:
            raise ValueError("a minimum support below 1")
        return minimum
    if not 0 < minimum <= 1:
        raise ValueError("a share that is not within (0, 1]")
    return max(1, math.ceil(minimum * rows * (1 - 1e-12)))


def mine(
    database: Database,
    min_support: float,
    *,
    only_closed: bool = False,
    min_length: int = 1,
    max_length: int | None = None,
    most: int = MOST_SETS,
) -> Itemsets:
    """Return the itemsets that at least ``min_support`` rows have (an int is a count, a float a share of the rows).

    ``only_closed``: those without a superset of equal support. ``most`` bounds how many are looked for: PluginError
    PPF775 if there are more. None are found, rightly, where ``min_support`` is above the number of rows. Unordered.
    """
    least = least_rows(min_support, database.rows)
    longest = database.cells.shape[1] if max_length is None else max_length
    if longest < 1 or min_length > longest or not (database.supports >= least).any():
        return _nothing()
    data, item_of = prepare(database, least, longest)
    search: Callable[[Data, Output], Output] = closed.search if only_closed else frequent.search
    out = search(data, _room(most))
    sets, filled = int(out.used[0]), int(out.used[1])
    if sets > most:
        raise too_many(most, least)
    items, ends = item_of[out.items[:filled]], out.ends[:sets]
    sort_within(items, ends)
    return Itemsets(np.concatenate([[0], ends]), items, out.supports[:sets].copy()).of_length(min_length)


def too_many(most: int, least: int) -> PluginError:
    """Build the error for more itemsets than fit in memory."""
    return PluginError(
        Diagnostic(
            "PPF775",
            f"more than {most} itemsets have a support of at least {least}",
            help="raise the minimum support, take closed itemsets, bound their length, or use SLIM",
        )
    )


def _nothing() -> Itemsets:
    none: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    return Itemsets(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none)


def _room(most: int) -> Output:
    return Output(
        np.empty(4096, dtype=np.int32),
        np.empty(1024, dtype=np.int64),
        np.empty(1024, dtype=np.int64),
        np.array([0, 0, most + 1], dtype=np.int64),
    )
