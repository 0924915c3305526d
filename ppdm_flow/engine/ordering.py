"""Sorting by (key, row number) in bounded memory: rows go to buckets by the first bits of their key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from ppdm_flow.engine.coding import restricted
from ppdm_flow.engine.narrow import fitting
from ppdm_flow.engine.pool import Pool
from ppdm_flow.engine.streams import Keys, Part
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import RowNumbers, Table

_BITS = 6
_TOGETHER = 1 << 18
_HEAD = 2


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Rows of one bucket: keys, row numbers, and the codes of each column."""

    arrays: tuple[npt.NDArray[np.generic], ...]

    def __len__(self) -> int:
        return len(self.arrays[0])

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in self.arrays)

    def take(self, places: npt.NDArray[np.int64]) -> _Block:
        return _Block(tuple(a[places] for a in self.arrays))


class Spool:
    """Takes partitions in any order and gives the rows back sorted.

    Above ``limit`` bytes the buckets go to files in ``folder``: numbers only, the texts stay in memory.
    """

    def __init__(self, names: Sequence[str], folder: Path, limit: int) -> None:
        self._names = tuple(names)
        self._folder = folder
        self._limit = limit
        self._pools = [Pool() for _ in names]
        self._pending: list[_Block] = []
        self._buckets: list[list[_Block]] = [[] for _ in range(1 << _BITS)]
        self._held = 0
        self._spilled: set[int] = set()

    def add(self, part: Part) -> None:
        """Take in a partition with keys."""
        keys = np.zeros(len(part.table), dtype=np.uint64) if part.keys is None else part.keys
        codes = [self._narrow(i, part.table[n]) for i, n in enumerate(self._names)]
        self._pending.append(_Block((keys, part.table.rows, *codes)))
        if sum(map(len, self._pending)) >= _TOGETHER:
            self._distribute()

    def tables(self) -> Iterator[Table]:
        """Yield the rows in order, a bucket at a time."""
        self._distribute()
        for number in range(len(self._buckets)):
            blocks = [*self._from_disk(number), *self._buckets[number]]
            self._buckets[number] = []
            if blocks:
                yield self._sorted(blocks)

    def _narrow(self, place: int, column: Column) -> npt.NDArray[np.signedinteger]:
        pool = self._pools[place]
        codes = pool.coded(column)
        return codes.astype(fitting(len(pool)))

    def _distribute(self) -> None:
        if not self._pending:
            return
        block = _joined(self._pending)
        self._pending = []
        keys: Keys = block.arrays[0].astype(np.uint64, copy=False)
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
                        _save(file, block)
                self._spilled.add(number)
            self._buckets[number] = []
        self._held = 0

    def _from_disk(self, number: int) -> Iterator[_Block]:
        if number not in self._spilled:
            return
        path = self._file(number)
        size = path.stat().st_size
        with path.open("rb") as file:
            while file.tell() < size:
                yield _load(file, len(self._names) + _HEAD)
        path.unlink()

    def _file(self, number: int) -> Path:
        return self._folder / f"bucket-{number:02d}"

    def _sorted(self, blocks: list[_Block]) -> Table:
        whole = _joined(blocks)
        keys, rows = whole.arrays[:_HEAD]
        order = _ordering(keys.astype(np.uint64, copy=False), rows)
        numbers: RowNumbers = rows[order].astype(np.int64, copy=False)
        columns = {}
        for i, name in enumerate(self._names):
            codes = whole.arrays[_HEAD + i][order].astype(np.int32)
            columns[name] = restricted(Column(codes, self._pools[i].categories()))
        return Table(columns, numbers)


def _ordering(keys: Keys, rows: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """Return the order by (key, row number); ties of random 64-bit keys are next to none, so looked for first."""
    order: npt.NDArray[np.int64] = np.argsort(keys)
    ordered = keys[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((rows, keys))
    return order


def _joined(blocks: list[_Block]) -> _Block:
    if len(blocks) == 1:
        return blocks[0]
    return _Block(tuple(np.concatenate(arrays) for arrays in zip(*(b.arrays for b in blocks), strict=True)))


def _save(file: BinaryIO, block: _Block) -> None:
    for array in block.arrays:
        np.save(file, array, allow_pickle=False)


def _load(file: BinaryIO, arrays: int) -> _Block:
    return _Block(tuple(np.load(file, allow_pickle=False) for _ in range(arrays)))
