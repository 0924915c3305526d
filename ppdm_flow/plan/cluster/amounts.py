"""Bytes that rows and counts take on the driver, and on their way to it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppdm_flow.core.attributes import AttributeFacts

CELL_BYTES = 4
"""Bytes of a cell of a table that the driver holds: codes are int32."""
ROW_BYTES = 8
"""Bytes of a row's number, and of the count of a combination."""
KEY_BYTES = 8
"""Bytes of the key by which a row is put into its place of an order."""
MOST_VALUES = 1 << 20
"""Values of a column, over all fragments, up to which they are counted while the source is read, and held."""
MEMORY = 768
"""MB of coded data that a run holds at once where nothing else is said."""
ROWS_AT_ONCE = 1 << 23
"""Rows that the driver holds while they pass it: two waves of four fragments of a million rows."""
_MEGABYTE = 1 << 20


def table_bytes(rows: int, columns: int) -> int:
    """Return how many bytes a table takes on the driver, without the texts of its categories."""
    return rows * (columns * CELL_BYTES + ROW_BYTES)


def combinations(columns: Sequence[AttributeFacts], rows: int) -> tuple[int, bool]:
    """Return the most combinations of values that there can be, and whether declared domains say so, or only rows.

    A domain has a missing and a suppressed value besides.
    """
    sizes = [len(column.domain) + 2 if column.domain is not None else None for column in columns]
    if all(size is not None for size in sizes):
        product = math.prod(size for size in sizes if size is not None)
        if product <= rows:
            return product, True
    return rows, False


def size(amount: int) -> str:
    """Return bytes in a unit that fits.

    >>> size(0), size(900), size(3 << 20), size(5 << 30), size(7 << 40)
    ('0', 'below 1 MB', '3 MB', '5 GB', '7 TB')
    """
    if not amount:
        return "0"
    if amount < _MEGABYTE:
        return "below 1 MB"
    for unit, bits in (("TB", 40), ("GB", 30)):
        if amount >= 1 << bits:
            return f"{amount / (1 << bits):.3g} {unit}"
    return f"{amount / _MEGABYTE:,.0f} MB"
