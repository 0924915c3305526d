"""Sorting by (key, row number) in bounded memory: rows go to buckets by the first bits of their key."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.engine.local.pools import Pools
from ppdm_flow.engine.local.spilling import BucketedBlock, Spill, SpilledBlock, joined, joined_buckets
from ppdm_flow.engine.streams.stream import Keys, StreamPart
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.tables.byte_counts import byte_counts
from ppdm_flow.tables.table import Table

_BITS = 8
_BUCKETS = 1 << _BITS
_TOGETHER = 1 << 18
_BYTES = 1 << 27
_AT_ONCE = 1 << 17
_BYTES_AT_ONCE = 1 << 26
"""Rows, and their bytes, up to which neighbouring buckets are sorted together: as many such blocks as there are workers
are in memory, and two more."""
_CELL = 8
"""Bytes of a cell once it is a text's code again, and in the file's form."""

T = TypeVar("T")


class Spool:
    """Takes partitions in any order and gives the rows back sorted.

    Above ``limit`` bytes the buckets go to files in ``folder``: numbers only, the texts stay in memory. Buckets are
    filled, read and sorted by ``workers``, the next ones while one is in use.
    """

    def __init__(self, names: Sequence[str], folder: Path, limit: int, workers: Workers = ALONE) -> None:
        self._pools = Pools(names)
        self._folder = folder
        self._limit = limit
        self._workers = workers
        self._pending: list[Callable[[], SpilledBlock]] = []
        self._rows = 0
        self._bytes = 0
        self._coming: deque[Future[BucketedBlock]] = deque()
        self._held: list[BucketedBlock] = []
        self._cells = _CELL * len(names)
        self._sorted_rows = 0
        self._sorted_bytes = 0
        self._spills: list[Spill] = []

    def add(self, part: StreamPart) -> None:
        """Take in a partition with keys."""
        self._pending.append(self._pools.prepared(part))
        self._rows += len(part.table)
        self._bytes += sum(s.nbytes for s in part.table.sets.values())
        if self._rows >= _TOGETHER or self._bytes >= _BYTES:
            self._distribute()
        self._collect(self._workers.number)

    def tables(self) -> Iterator[Table]:
        """Yield the rows in order, some buckets at a time."""
        return self.each(_same)

    def each(self, work: Callable[[Table], T]) -> Iterator[T]:
        """Yield what ``work``, which several threads may do at once, makes of the same tables."""
        self._distribute()
        self._collect(0)
        try:
            yield from self._workers.each(partial(self._made, work, *some) for some in self._together())
        finally:
            self._held = []
            for spill in self._spills:
                spill.delete()

    def _made(self, work: Callable[[Table], T], first: int, last: int) -> T:
        blocks = [spill.load(number) for spill in self._spills for number in range(first, last)]
        blocks += [joined_buckets(self._held, first, last)] if self._held else []
        block = joined([b for b in blocks if len(b)])
        return work(self._pools.table(block, order_of(block)))

    def _together(self) -> Iterator[tuple[int, int]]:
        """Yield the bounds of neighbouring buckets that are sorted together; there is a row in each such range."""
        rows = np.zeros(_BUCKETS, dtype=np.int64)
        for sizes in (*(spill.sizes for spill in self._spills), *(held.sizes for held in self._held)):
            rows += sizes
        most = min(_AT_ONCE, _BYTES_AT_ONCE // (self._cells + self._sorted_bytes // max(1, self._sorted_rows) + 1))
        first, total = 0, 0
        for number, size in enumerate(rows.tolist()):
            if total and total + size > most:
                yield first, number
                first, total = number, 0
            total += size
        if total:
            yield first, _BUCKETS

    def _distribute(self) -> None:
        if self._pending:
            self._coming.append(self._workers.submit(partial(_bucketed, self._pending)))
            self._pending, self._rows, self._bytes = [], 0, 0

    def _collect(self, waiting: int) -> None:
        """Take in what is distributed, until no more than so many are on their way."""
        while len(self._coming) > waiting:
            bucketed = self._coming.popleft().result()
            self._held.append(bucketed)
            self._sorted_rows += len(bucketed.block)
            self._sorted_bytes += bucketed.block.nbytes
            if sum(b.block.nbytes for b in self._held) > self._limit:
                self._spills.append(Spill.of(self._held, self._folder / f"spill-{len(self._spills)}"))
                self._held = []


def _bucketed(jobs: Sequence[Callable[[], SpilledBlock]]) -> BucketedBlock:
    block = joined([job() for job in jobs])
    keys: Keys = block.plain(0)
    bucket = (keys >> np.uint64(64 - _BITS)).astype(np.uint8)  # narrow: then a stable sort is a radix sort
    order = np.argsort(bucket, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(byte_counts(bucket))])
    return BucketedBlock(block.take(order), bounds)  # once: rows of one bucket lie far from each other


def _same(table: Table) -> Table:
    return table


def order_of(block: SpilledBlock) -> npt.NDArray[np.int64]:
    """Return the order by (key, row number); ties of random 64-bit keys are next to none, so looked for first."""
    keys: Keys = block.plain(0)
    order = np.argsort(keys)
    ordered = keys[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((block.plain(1), keys))
    return order
