"""Sets of rows as the bits of Python's whole numbers, bit r for row r: for little data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ppdm_flow.mining.itemsets.bits import Words, weight_planes
from ppdm_flow.mining.itemsets.database import Database


def rows_of(words: Words) -> int:
    """Return the set of rows that are ones of a bit vector."""
    return int.from_bytes(words.astype("<u8").tobytes(), "little")


def rows_by_item(database: Database) -> list[int]:
    """Return the rows that have each item."""
    return [rows_of(line) for line in database.vertical(np.arange(database.items, dtype=np.int32))]


def planes_of(database: Database) -> list[int]:
    """Return the rows whose weight has bit p, for each p: those that :func:`weight_of` reads."""
    return [rows_of(plane) for plane in weight_planes(database.weights)[0]]


def weight_of(rows: int, planes: Sequence[int]) -> int:
    """Return the weight of rows."""
    if len(planes) == 1:  # all weights are 1
        return rows.bit_count()
    return sum((rows & plane).bit_count() << place for place, plane in enumerate(planes))


def common_to(sets: Sequence[int], items: Sequence[int]) -> int:
    """Return the rows that are in the sets of all items."""
    rows = sets[items[0]]
    for item in items[1:]:
        rows &= sets[item]
    return rows


def positions(rows: int) -> Iterator[int]:
    """Yield the rows, ascending."""
    while rows:
        lowest = rows & -rows
        yield lowest.bit_length() - 1
        rows ^= lowest
