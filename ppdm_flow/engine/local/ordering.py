"""Sorting by (key, row number) in bounded memory: rows go to buckets by the first bits of their key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ppdm_flow.engine.local.pools import Pools
from ppdm_flow.engine.local.spilling import Block, joined, load, save
from ppdm_flow.engine.streams.stream import Keys, Part
from ppdm_flow.tables.table import Table

_BITS = 6
_TOGETHER = 1 << 18
_BYTES = 1 << 27
_MANY = 1 << 16
_RUN_BITS = 8


class Spool:
    """Takes partitions in any order and gives the rows back sorted.

    Above ``limit`` bytes the buckets go to files in ``folder``: numbers only, the texts stay in memory.
    """

    def __init__(self, names: Sequence[str], folder: Path, limit: int) -> None:
        self._pools = Pools(names)
        self._folder = folder
        self._limit = limit
        self._pending: list[Block] = []
        self._buckets: list[list[Block]] = [[] for _ in range(1 << _BITS)]
        self._held = 0
        self._spilled: set[int] = set()

    def add(self, part: Part) -> None:
        """Take in a partition with keys."""
        self._pending.append(self._pools.block(part))
        if sum(map(len, self._pending)) >= _TOGETHER or sum(b.nbytes for b in self._pending) >= _BYTES:
            self._distribute()

    def tables(self) -> Iterator[Table]:
        """Yield the rows in order, a bucket at a time."""
        self._distribute()
        for number in range(len(self._buckets)):
            blocks = [*self._from_disk(number), *self._buckets[number]]
            self._buckets[number] = []
            if blocks:
                block = joined(blocks)
                yield self._pools.table(block, order_of(block))

    def _distribute(self) -> None:
        if not self._pending:
            return
        block = joined(self._pending)
        self._pending = []
        keys: Keys = block.plain(0)
        bucket = (keys >> np.uint64(64 - _BITS)).astype(np.uint8)  # narrow: then a stable sort is a radix sort
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(len(self._buckets) + 1))
        by_bucket = block.take(order)  # once: rows of one bucket lie far from each other
        for number in range(len(self._buckets)):
            begin, end = int(bounds[number]), int(bounds[number + 1])
            if begin < end:
                self._buckets[number].append(by_bucket.take(slice(begin, end)))
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


def order_of(block: Block) -> npt.NDArray[np.int64]:
    """Return the order by (key, row number); ties of random 64-bit keys are next to none, so looked for first."""
    keys: Keys = block.plain(0)
    order = _by_key(keys)
    ordered = keys[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((block.plain(1), keys))
    return order


def _by_key(keys: Keys) -> npt.NDArray[np.int64]:
    """Return an order by key: many rows by the spread of their keys first, in runs that a processor has at hand."""
    if len(keys) < _MANY:
        return np.argsort(keys)
    low, high = keys.min(), keys.max()
    shift = max(0, int(high - low).bit_length() - _RUN_BITS)
    runs = ((keys - low) >> np.uint64(shift)).astype(np.uint8)  # bytes: a stable sort of them is a radix sort
    order = np.argsort(runs, kind="stable")
    spread = keys[order]
    ends = np.cumsum(np.bincount(runs))
    for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        order[begin:end] = order[begin:end][np.argsort(spread[begin:end])]
    return order
