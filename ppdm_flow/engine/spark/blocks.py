"""Rows on their way to the parts of a release: cut by the first bits of their keys, and put in order there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.engine.local.ordering import order_of
from ppdm_flow.engine.local.pools import Pools
from ppdm_flow.engine.local.spilling import joined
from ppdm_flow.engine.streams.coding import without_unused
from ppdm_flow.engine.streams.narrow import NarrowTable
from ppdm_flow.engine.streams.stream import Keys, StreamPart
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_CELLS_A_CATEGORY = 16
_TOGETHER = 1 << 17


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows of one fragment that go to one part, in the order of their numbers, and their keys.

    The numbers themselves stay where they are: rows with equal keys keep their order, and so do fragments.
    """

    table: NarrowTable
    keys: Keys


def cut(table: Table, keys: Keys, bits: int) -> Iterator[tuple[int, RowBlock]]:
    """Yield a block for each of 2^``bits`` parts that gets rows, with the part's number."""
    if not (table.rows[1:] >= table.rows[:-1]).all():
        ascending = np.argsort(table.rows, kind="stable")
        table, keys = table.take(ascending), keys[ascending]
    numbers = _part_of(keys, bits)
    order = np.argsort(numbers, kind="stable")
    by_part, keys = table.take(order), keys[order]  # once: rows of one part lie far from each other
    ends = np.searchsorted(numbers[order], np.arange((1 << bits) + 1))
    for number, (begin, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        if begin < end:
            rows = slice(begin, end)
            columns = {name: _without_many_unused(column.take(rows)) for name, column in by_part.columns.items()}
            sets = {name: column.take(rows).compact() for name, column in by_part.sets.items()}
            yield number, RowBlock(NarrowTable.of(Table(columns, np.arange(end - begin), sets)), keys[rows])


def in_order(blocks: Sequence[RowBlock], names: Sequence[str]) -> Iterator[Table]:
    """Yield the rows of a part's blocks, which come in the order of fragments, by (key, row number).

    Raises RunError for a column that has another form in another block.
    """
    pools, first, pooled = Pools(names), 0, []
    for block in blocks:
        table = block.table.table(block.table.names)
        numbered = Table(table.columns, table.rows + first, table.sets)
        pooled.append(pools.block(StreamPart(numbered, block.keys)))
        first += len(table)
    whole = joined(pooled)
    order = order_of(whole)
    for begin in range(0, len(order), _TOGETHER):
        yield pools.table(whole, order[begin : begin + _TOGETHER])


def _part_of(keys: Keys, bits: int) -> npt.NDArray[np.unsignedinteger]:
    narrow = np.uint8 if bits <= 8 else np.uint32  # a stable sort of bytes is a radix sort
    if bits == 0:
        return np.zeros(len(keys), dtype=narrow)
    return (keys >> np.uint64(64 - bits)).astype(narrow)


def _without_many_unused(column: Column) -> Column:
    """Return the same cells; categories that do not occur are left out where they could outweigh the cells.

    The order leaves out all of them.
    """
    few = isinstance(column, NumericColumn) or _CELLS_A_CATEGORY * len(column.categories) <= len(column)
    return column if few else without_unused(column)
