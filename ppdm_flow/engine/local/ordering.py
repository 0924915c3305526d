"""Sorting by (key, row number) in bounded memory: rows go to buckets by the first bits of their key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ppdm_flow.engine.local.pool import NumberPool, Pool, SetPool
from ppdm_flow.engine.local.spilling import Block, FixedLengthPiece, Piece, joined, load, save
from ppdm_flow.engine.streams.coding import without_unused
from ppdm_flow.engine.streams.narrow import fitting
from ppdm_flow.engine.streams.stream import Keys, Part, part_keys
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import SetColumn
from ppdm_flow.tables.table import RowNumbers, Table

_BITS = 6
_TOGETHER = 1 << 18
_BYTES = 1 << 27
_HEAD = 2


class Spool:
    """Takes partitions in any order and gives the rows back sorted.

    Above ``limit`` bytes the buckets go to files in ``folder``: numbers only, the texts stay in memory.
    """

    def __init__(self, names: Sequence[str], folder: Path, limit: int) -> None:
        self._names = tuple(names)
        self._folder = folder
        self._limit = limit
        self._pools: list[Pool | NumberPool | SetPool | None] = [None] * len(self._names)
        self._pending: list[Block] = []
        self._buckets: list[list[Block]] = [[] for _ in range(1 << _BITS)]
        self._held = 0
        self._spilled: set[int] = set()

    def add(self, part: Part) -> None:
        """Take in a partition with keys."""
        keys = part_keys(part)
        pieces = [self._pooled(i, part.table, n) for i, n in enumerate(self._names)]
        self._pending.append(Block((FixedLengthPiece.of(keys), FixedLengthPiece.of(part.table.rows), *pieces)))
        if sum(map(len, self._pending)) >= _TOGETHER or sum(b.nbytes for b in self._pending) >= _BYTES:
            self._distribute()

    def tables(self) -> Iterator[Table]:
        """Yield the rows in order, a bucket at a time."""
        self._distribute()
        for number in range(len(self._buckets)):
            blocks = [*self._from_disk(number), *self._buckets[number]]
            self._buckets[number] = []
            if blocks:
                yield self._sorted(blocks)

    def _pooled(self, place: int, table: Table, name: str) -> Piece:
        pool = self._pools[place]
        if name in table.sets:
            pool = self._pools[place] = pool if isinstance(pool, SetPool) else SetPool()
            return pool.piece(table.sets[name])
        column = table[name]
        if pool is None and isinstance(column, NumericColumn):
            pool = self._pools[place] = NumberPool(column.kind)
        if isinstance(pool, NumberPool):
            return pool.piece(column)
        pool = self._pools[place] = pool if isinstance(pool, Pool) else Pool()
        codes = pool.coded(column)
        return FixedLengthPiece.of(codes.astype(fitting(len(pool))))

    def _distribute(self) -> None:
        if not self._pending:
            return
        block = joined(self._pending)
        self._pending = []
        keys: Keys = block.plain(0).astype(np.uint64, copy=False)
        bucket = (keys >> np.uint64(64 - _BITS)).astype(np.uint8)  # narrow: then a stable sort is a radix sort
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(len(self._buckets) + 1))
        for number in range(len(self._buckets)):
            piece = order[bounds[number] : bounds[number + 1]]
            if len(piece):
                self._buckets[number].append(block.take(piece))
        self._held += block.nbytes
        if self._held > self._limit:
            self._spill()

    def _spill(self) -> None:
        for number, blocks in enumerate(self._buckets):
            if blocks:
                with self._file(number).open("ab") as file:
                    for block in blocks:
                        save(file, block)
                self._spilled.add(number)
            self._buckets[number] = []
        self._held = 0

    def _from_disk(self, number: int) -> Iterator[Block]:
        if number not in self._spilled:
            return
        path = self._file(number)
        size = path.stat().st_size
        with path.open("rb") as file:
            while file.tell() < size:
                yield load(file)
        path.unlink()

    def _file(self, number: int) -> Path:
        return self._folder / f"bucket-{number:02d}"

    def _sorted(self, blocks: list[Block]) -> Table:
        table = joined(blocks)
        keys, rows = table.plain(0), table.plain(1)
        order = _ordering(keys.astype(np.uint64, copy=False), rows)
        numbers: RowNumbers = rows[order].astype(np.int64, copy=False)
        columns: dict[str, Column] = {}
        sets: dict[str, SetColumn] = {}
        for i, name in enumerate(self._names):
            pool = self._pools[i]
            piece = table.pieces[_HEAD + i].take(order)
            if isinstance(pool, SetPool):
                sets[name] = pool.column(piece)
            elif isinstance(pool, NumberPool):
                columns[name] = pool.column(piece)
            elif isinstance(pool, Pool):
                columns[name] = without_unused(Column(piece.arrays[0].astype(np.int32), pool.categories()))
        return Table(columns, numbers, sets)


def _ordering(keys: Keys, rows: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """Return the order by (key, row number); ties of random 64-bit keys are next to none, so looked for first."""
    order: npt.NDArray[np.int64] = np.argsort(keys)
    ordered = keys[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((rows, keys))
    return order
