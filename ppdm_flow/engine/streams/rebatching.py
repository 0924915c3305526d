"""Partitions of exactly the size asked for, whatever blocks a reader yields; the next is made while one is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ppdm_flow.engine.streams.coding import bounded, encode_texts, split, without_unused
from ppdm_flow.engine.streams.numbers import NumberReader
from ppdm_flow.engine.streams.stream import Places
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.sets import stacked
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
    waiting: list[Table] = []
    held = 0
    for batch in batches:
        size = bounded(size, batch)
        waiting.append(_table(batch, names, start, readers))
        start += batch.num_rows
        held += batch.num_rows
        if held >= size:
            table = _joined(waiting)
            full = held - held % size
            yield from (_slice(table, at, at + size) for at in range(0, full, size))
            waiting = [_slice(table, full, held)] if full < held else []
            held -= full
    if held:
        yield _slice(_joined(waiting), 0, held)


def _table(batch: pa.RecordBatch, names: Sequence[str], start: int, readers: Mapping[str, NumberReader]) -> Table:
    sets = split(batch, names, start)
    columns: dict[str, Column] = {}
    for i, name in enumerate(names):
        if name not in sets:
            reader = readers.get(name)
            columns[name] = encode_texts(batch.column(i)) if reader is None else reader.read(batch.column(i), start)
    return Table(columns, np.arange(start, start + batch.num_rows, dtype=np.int64), sets)


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


def numbered(tables: Iterable[Table], rows: Places) -> Iterator[Table]:
    """Yield the tables under these row numbers, one after the other."""
    start = 0
    for table in tables:
        yield Table(table.columns, rows[start : start + len(table)], table.sets)
        start += len(table)


T = TypeVar("T")
_END: Any = object()


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items in order, each made by a thread of its own while the one before is in use.

    An error in making an item is raised where the item would have come. At most one item is made ahead; whoever stops
    early waits for that one.
    """
    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, source, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, source, _END)
            yield item
