"""Covering little data with given itemsets, by Python alone."""

from __future__ import annotations

import math

from ppdm_flow.mining.itemsets.collection import Itemsets
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.itemsets.row_sets import common_to, planes_of, rows_by_item, weight_of
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.plain_table import SINGLE, PlainTable

_ROWS_A_STEP = 8_000
MOST_BITS = 1 << 26
"""Rows times items of what is kept as sets of rows (8 MB)."""


def steps(database: Database, itemsets: Itemsets) -> float:
    """Return about how many microseconds :func:`covered` takes."""
    rows = len(database.cells)
    if rows * database.items > MOST_BITS:
        return math.inf
    words = 1 + rows / _ROWS_A_STEP
    return 200 + database.cells.size / 25 + (3 * len(itemsets) + len(itemsets.items) + database.items) * words


def covered(database: Database, itemsets: Itemsets) -> CodeTable:
    """Return the code table of given itemsets, of two items or more: each takes all rows in which its items are left.

    As nothing but usages is asked for, no row is covered by itself.
    """
    table = PlainTable(database)
    for items, support in itemsets:
        if len(items) > 1:
            table.put(items, support)
    left, planes = rows_by_item(database), planes_of(database)
    for x in table.order:
        rows = common_to(left, table.items[x])
        table.usage[x] = weight_of(rows, planes)
        if rows:
            for item in table.items[x]:
                left[item] ^= rows
    for item, rows in enumerate(left):
        table.usage[SINGLE + item] = weight_of(rows, planes)
    return table.read_off()
