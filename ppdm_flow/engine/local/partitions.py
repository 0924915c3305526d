"""Partitioned releases: one file for each combination of values, in folders `column=value` that other tools know."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.file_sets import MISSING_PARTITION
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.local.pools import Pools
from ppdm_flow.engine.local.spilling import BucketedBlock, Spill, SpilledBlock, joined, joined_buckets
from ppdm_flow.engine.streams.stream import Keys, Stream, StreamPart, results
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.plan.formats import usual_ending
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import byte_counts
from ppdm_flow.tables.table import Table

MOST = 10_000
"""Partitions of a release: more files than that serve nobody."""
_LONGEST = 255
"""Bytes of the name of a folder."""

Values = tuple[str | None, ...]
Numbers = npt.NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True)
class Partitions:
    """The partitions of a release in the order of their folders' names; ``rows`` counts those of each."""

    release: ReleaseNode
    values: tuple[Values, ...]
    rows: tuple[int, ...]

    @classmethod
    def of(cls, release: ReleaseNode, stream: Stream) -> Partitions:
        """Count the rows of each partition. Raises DataError where they are too many, or have no folder's name."""
        counts: dict[Values, int] = {}
        for counted_rows in results(stream, partial(_rows_of, release.partition_by), release.partition_by):
            for values, rows in counted_rows:
                counts[values] = counts.get(values, 0) + rows
            if len(counts) > MOST:
                text = f"release `{release.name}` has more than {counted(MOST, 'partition')}"
                raise data_fault("PPF496", text, advice="partition by attributes with fewer values")
        folders = {values: _folders(release, values) for values in counts}
        _refuse_alike(release, folders.values())
        ordered = sorted(counts, key=folders.__getitem__)
        return cls(release, tuple(ordered), tuple(counts[values] for values in ordered))

    @cached_property
    def numbers(self) -> Mapping[Values, int]:
        """The number of each partition."""
        return {values: number for number, values in enumerate(self.values)}

    def path(self, number: int, home: Path) -> Path:
        """Return the file of a partition below the release's folder."""
        return home / _folders(self.release, self.values[number]) / f"part-0{self._ending}"

    @cached_property
    def _ending(self) -> str:
        return usual_ending("sinks", self.release.format, self.release.path)

    def of_rows(self, table: Table) -> Numbers:
        """Return the number of the partition of each row, shape (rows,)."""
        combinations, places = _combinations(table, self.release.partition_by)
        known = np.array([self.numbers[values] for values in combinations], dtype=np.int64)
        return known[places]

    def sorted_tables(self, tables: Iterator[StreamPart], spool: Spool) -> Iterator[tuple[int, Table]]:
        """Yield the rows of one partition after the other, each in the order of ``tables``, with its number."""
        taken = np.zeros(len(self.values), dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(self.rows)[:-1]]).astype(np.int64)
        step = np.uint64((1 << 64) // max(1, sum(self.rows)) - 1)
        for part in tables:
            numbers = self.of_rows(part.table)
            within = _running(numbers, taken)
            keys: Keys = (starts[numbers] + within).astype(np.uint64) * step
            spool.add(StreamPart(part.table, keys))
        for table in spool.tables():
            numbers = self.of_rows(table)
            ends = np.flatnonzero(np.diff(numbers)) + 1
            for first, last in zip([0, *ends], [*ends, len(numbers)], strict=True):
                yield int(numbers[first]), _slice(table, int(first), int(last))


def _rows_of(names: Sequence[str], part: StreamPart) -> list[tuple[Values, int]]:
    """Count the rows of each combination in a part."""
    combinations, places = _combinations(part.table, names)
    return list(zip(combinations, np.bincount(places, minlength=len(combinations)).tolist(), strict=True))


def _running(numbers: Numbers, taken: Numbers) -> Numbers:
    """Return how many rows of its partition come before each row; ``taken`` counts on."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    first = np.searchsorted(ordered, ordered)
    within = np.empty(len(numbers), dtype=np.int64)
    within[order] = np.arange(len(numbers)) - first + taken[ordered]
    taken += np.bincount(numbers, minlength=len(taken))
    return within


def _combinations(table: Table, names: Sequence[str]) -> tuple[list[Values], Numbers]:
    """Return the combinations of values that occur, and where each row's stands among them."""
    places = np.zeros(len(table), dtype=np.int64)
    columns = [table[name] for name in names]
    for column in columns:
        _, places = np.unique(places * column.width + column.dense, return_inverse=True)
    _, first, places = np.unique(places, return_index=True, return_inverse=True)
    texts = [_texts_at(column, first) for column in columns]
    return list(zip(*texts, strict=True)), places.astype(np.int64)


def _texts_at(column: Column, rows: npt.NDArray[np.intp]) -> list[str | None]:
    return Column(column.codes[rows], column.categories).texts()


def _slice(table: Table, first: int, last: int) -> Table:
    rows = slice(first, last)
    columns = {name: column.take(rows) for name, column in table.columns.items()}
    sets = {name: column.take(rows) for name, column in table.sets.items()}
    return Table(columns, table.rows[rows], sets)


def _folders(release: ReleaseNode, values: Values) -> str:
    return "/".join(_folder(release, *pair) for pair in zip(release.partition_by, values, strict=True))


def _folder(release: ReleaseNode, name: str, text: str | None) -> str:
    """Return ``name=text``, percent-encoded so that every file system and every reader takes it. Raises DataError."""
    who = f"release `{release.name}`: a value of `{name}`"
    if text is not None and (text == MISSING_PARTITION or "\0" in text):
        what = "is how folders call a missing one" if "\0" not in text else "has a character that no folder's name has"
        raise data_fault("PPF496", f"{who} {what}", advice="recode it, or partition by another attribute")
    folder = f"{_encoded(name)}={MISSING_PARTITION if text is None else _encoded(text)}"
    if len(folder) > _LONGEST:
        raise data_fault("PPF496", f"{who} is too long for the name of a folder", advice="recode or generalize it")
    return folder


def _encoded(text: str) -> str:
    encoded = quote(text, safe="")
    if encoded.startswith("."):
        encoded = f"%2E{encoded[1:]}"
    return f"{encoded[:-1]}%2E" if encoded.endswith(".") else encoded


def _refuse_alike(release: ReleaseNode, folders: Collection[str]) -> None:
    """Raise DataError where two folders are one on systems that do not tell A from a."""
    if len({folder.casefold() for folder in folders}) < len(folders):
        text = f"release `{release.name}`: two values differ in capitals only, and are one folder on some systems"
        raise data_fault("PPF496", text, advice="recode them, or partition by another attribute")


# Sorting by (key, row number) in bounded memory: rows go to buckets by the first bits of their key.


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
        for sizes in (*(spill.sizes for spill in self._spills), *(block.sizes for block in self._held)):
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
