"""Tables on their way through a sort as blocks of numbers, with one alphabet for each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ppdm_flow.engine.local.pool import NumberPool, SetPool, TextPool
from ppdm_flow.engine.local.spilling import ColumnPiece, FixedLengthPiece, Places, SpilledBlock
from ppdm_flow.engine.streams.coding import without_unused
from ppdm_flow.engine.streams.stream import StreamPart, part_keys
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import SetColumn
from ppdm_flow.tables.table import Table

_HEAD = 2
_SHORT = (1 << 32) - 1


class Pools:
    """Turns partitions into blocks (keys, row numbers, then a piece for each column) and blocks into tables."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._pools: list[TextPool | NumberPool | SetPool | None] = [None] * len(self._names)

    def block(self, part: StreamPart) -> SpilledBlock:
        """Return a partition with keys as a block. Raises RunError for a column that others have in another form."""
        return self.prepared(part)()

    def prepared(self, part: StreamPart) -> Callable[[], SpilledBlock]:
        """Take in the categories of a partition, and return what makes its block, which any thread may carry out.

        Raises RunError as above.
        """
        return partial(_block, part, [self._piece(i, part.table, n) for i, n in enumerate(self._names)])

    def table(self, block: SpilledBlock, places: Places) -> Table:
        """Return the rows of a block at some places; only the categories that occur there stay."""
        columns: dict[str, Column] = {}
        sets: dict[str, SetColumn] = {}
        for i, name in enumerate(self._names):
            pool, piece = self._pools[i], block.pieces[_HEAD + i].take(places)
            if isinstance(pool, SetPool):
                sets[name] = pool.column(piece)
            elif isinstance(pool, NumberPool):
                columns[name] = pool.column(piece)
            elif isinstance(pool, TextPool):
                columns[name] = without_unused(Column(piece.arrays[0].astype(np.int32), pool.categories()))
        return Table(columns, block.plain(1)[places].astype(np.int64, copy=False), sets)

    def _piece(self, place: int, table: Table, name: str) -> Callable[[], ColumnPiece]:
        pool = self._pools[place]
        if name in table.sets:
            pool = self._pools[place] = pool if isinstance(pool, SetPool) else SetPool()
            return pool.piece(table.sets[name])
        column = table[name]
        if pool is None and isinstance(column, NumericColumn):
            pool = self._pools[place] = NumberPool(column.kind)
        if isinstance(pool, NumberPool):
            return pool.piece(column)
        pool = self._pools[place] = pool if isinstance(pool, TextPool) else TextPool()
        return pool.piece(column)


def _block(part: StreamPart, pieces: Sequence[Callable[[], ColumnPiece]]) -> SpilledBlock:
    rows = part.table.rows
    narrow = rows.astype(np.uint32) if len(rows) and rows.min() >= 0 and rows.max() <= _SHORT else rows
    return SpilledBlock(
        (FixedLengthPiece.of(part_keys(part)), FixedLengthPiece.of(narrow), *(piece() for piece in pieces))
    )
