"""Cuts the blocks of a reader, which have any size, into partitions of exactly the size asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from ppdm_flow.engine.streams.coding import bounded, encode_texts, split, without_unused
from ppdm_flow.engine.streams.numbers import NumberReader
from ppdm_flow.engine.streams.stream import Places
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.sets import stacked
from ppdm_flow.tables.sets.arrow import holds_sets
from ppdm_flow.tables.table import Table, stacked_columns


def partitions(
    batches: Iterator[pa.RecordBatch],
    names: Sequence[str],
    size: int,
    readers: Mapping[str, NumberReader] = {},
    start: int = 0,
) -> Iterator[Table]:
    """Yield tables of ``size`` rows (the last may be shorter), numbered from ``start``, with the columns ``names``.

    Those with a reader in ``readers`` are numeric columns. Where sets are packed, partitions have so many rows that
    their bits stay below 64 MB.
    """
    for job in partition_jobs(batches, names, size, readers, start):
        yield from job()


Job = Callable[[], list[Table]]
"""Makes some partitions; any thread may carry it out."""


def partition_jobs(
    batches: Iterator[pa.RecordBatch],
    names: Sequence[str],
    size: int,
    readers: Mapping[str, NumberReader] = {},
    start: int = 0,
) -> Iterator[Job]:
    """Yield what makes the same tables; what a reader of numbers has to see in the order of rows it has seen then."""
    waiting: list[_Block] = []
    rows_waiting = 0
    for batch in batches:
        size = bounded(size, batch)
        waiting.append(_Block(batch, start, _numbers(batch, names, start, readers)))
        start += batch.num_rows
        rows_waiting += batch.num_rows
        if rows_waiting >= size:
            full, waiting = _cut(waiting, rows_waiting - rows_waiting % size)
            yield partial(_tables, full, names, size)
            rows_waiting %= size
    if rows_waiting:
        yield partial(_tables, waiting, names, size)


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of a reader: its rows from number ``start`` on, and their numeric columns."""

    batch: pa.RecordBatch
    start: int
    numbers: Mapping[str, Column]

    def slice(self, begin: int, rows: int) -> _Block:
        """Return some of the rows, without a copy."""
        numbers = {n: c.take(slice(begin, begin + rows)) for n, c in self.numbers.items()}
        return _Block(self.batch.slice(begin, rows), self.start + begin, numbers)

    def table(self, names: Sequence[str]) -> Table:
        """Return the rows, coded."""
        batch, start = self.batch, self.start
        sets = split(batch, names, start)
        columns = {
            name: self.numbers[name] if name in self.numbers else encode_texts(batch.column(i))
            for i, name in enumerate(names)
            if name not in sets
        }
        return Table(columns, np.arange(start, start + batch.num_rows, dtype=np.int64), sets)


def _numbers(
    batch: pa.RecordBatch, names: Sequence[str], start: int, readers: Mapping[str, NumberReader]
) -> Mapping[str, Column]:
    columns = {name: batch.column(i) for i, name in enumerate(names) if name in readers}
    return {name: readers[name].read(c, start) for name, c in columns.items() if not holds_sets(c.type)}


def _cut(blocks: Sequence[_Block], rows: int) -> tuple[list[_Block], list[_Block]]:
    """Return the first so many rows, and the others."""
    first, others = [], []
    for block in blocks:
        taken = min(rows, block.batch.num_rows)
        rows -= taken
        first += [block.slice(0, taken)] if taken else []
        others += [block.slice(taken, block.batch.num_rows - taken)] if taken < block.batch.num_rows else []
    return first, others


def _tables(blocks: Sequence[_Block], names: Sequence[str], size: int) -> list[Table]:
    table = _joined([block.table(names) for block in blocks])
    return [_slice(table, at, min(at + size, len(table))) for at in range(0, len(table), size)]


def _joined(tables: list[Table]) -> Table:
    """Stack blocks; categories are sorted by text."""
    columns = {name: stacked_columns([t[name] for t in tables]) for name in tables[0].columns}
    sets = {name: stacked([t.sets[name] for t in tables]) for name in tables[0].sets}
    return Table(columns, np.concatenate([t.rows for t in tables]), sets)


def _slice(table: Table, begin: int, end: int) -> Table:
    """Return the rows between two positions; only the categories that occur there stay, sorted."""
    columns = {n: without_unused(c.take(slice(begin, end))) for n, c in table.columns.items()}
    sets = {n: s.take(slice(begin, end)).compact() for n, s in table.sets.items()}
    return Table(columns, table.rows[begin:end], sets)


def picked(batches: Iterable[pa.RecordBatch], places: Places) -> Iterator[pa.RecordBatch]:
    """Yield the rows of blocks at some places, ascending, from 0: nothing is made of the others."""
    start = 0
    for batch in batches:
        begin, end = np.searchsorted(places, [start, start + batch.num_rows])
        if end > begin:
            yield batch.take(pa.array(places[begin:end] - start))
        start += batch.num_rows
