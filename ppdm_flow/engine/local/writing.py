"""Writes a release to disk, and reads it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import pyarrow as pa

from ppdm_flow.core.errors import DataError, RunError
from ppdm_flow.engine.faults import data_fault, wrap_plugin_errors
from ppdm_flow.engine.local.partitions import Partitions, Spool
from ppdm_flow.engine.local.source import SourceStream
from ppdm_flow.engine.opening.opening import keeps_types, open_sink, takes_numbers
from ppdm_flow.engine.opening.released import released_checks, released_source
from ppdm_flow.engine.seam import ReleaseTarget, Resources, WrittenRows
from ppdm_flow.engine.streams.coding import arrow
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.reading import Budget, PartitionObserver
from ppdm_flow.engine.streams.stream import PartJob, Stop, Stream, StreamPart, jobs_of, workers_of
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.storage import Sink
from ppdm_flow.tables.arrow_texts import restored
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.numeric.column import NumericColumn, arrow_numbers
from ppdm_flow.tables.sets.arrow import field_of, to_arrow
from ppdm_flow.tables.table import Table

T = TypeVar("T")


def kept_columns(release: ReleaseNode, types: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    """Return the released columns that keep the type of the source, by the ``types`` of its attributes."""
    if not keeps_types(release):
        return {}
    own = [a for a in release.attributes if a.unchanged and a.name not in release.partition_by]
    return {a.name: types[a.source] for a in own if a.source in types}


def write(release: ReleaseNode, stream: Stream, target: ReleaseTarget) -> WrittenRows:
    """Write the rows of ``stream`` in the order that its steps asked for. Raises RunError, DataError."""
    path, spool = target.place, target.scratch
    names = tuple(a.name for a in release.attributes)
    path.parent.mkdir(parents=True, exist_ok=True)
    seen = MultisetHash(target.key)
    limit = target.limit // 2 if release.partition_by else target.limit  # which are sorted twice
    rows = _OrderedRows(stream, names, seen, Spool(names, spool, limit, workers_of(stream)))
    with wrap_plugin_errors(f"release `{release.name}`"):
        if release.partition_by:
            parts = rows.each(StreamPart)
            _write_partitions(release, stream, parts, replace(target, limit=limit))
        else:
            with opened_sink(release, path, names) as sink:
                made = partial(batch, names=names, typed=takes_numbers(release), types=target.types)
                for ready in rows.each(made):
                    sink.write(ready)
    if not seen.rows:
        raise data_fault("PPF725", f"release `{release.name}` has no rows: the steps before it dropped them all")
    return WrittenRows(seen.rows, seen.value)


def _write_partitions(release: ReleaseNode, stream: Stream, parts: Iterator[StreamPart], target: ReleaseTarget) -> None:
    """Write a file for each partition, one after the other, in its order of rows."""
    path, spool, limit = target.place, target.scratch, target.limit
    partitions = Partitions.of(release, stream)
    names = tuple(a.name for a in release.attributes if a.name not in release.partition_by)
    every = tuple(a.name for a in release.attributes)
    second = spool / "partitions"
    second.mkdir(mode=0o700)
    tables = partitions.sorted_tables(parts, Spool(every, second, limit, workers_of(stream)))
    typed = takes_numbers(release)
    for number, pieces in groupby(tables, key=itemgetter(0)):
        file = partitions.path(number, path)
        file.parent.mkdir(parents=True)
        with opened_sink(release, file, names) as sink:
            for _, table in pieces:
                sink.write(batch(table, names, typed=typed, types=target.types))


@contextmanager
def opened_sink(release: ReleaseNode, path: Path, names: tuple[str, ...]) -> Iterator[Sink]:
    """Open a writer, and close it in any case."""
    sink = open_sink(release, path, names)
    try:
        yield sink
    finally:
        sink.close()


@dataclass(frozen=True, slots=True)
class _OrderedRows:
    """The rows of a stream in the order that their keys ask for, where they have keys; ``seen`` hashes them."""

    stream: Stream
    names: tuple[str, ...]
    seen: MultisetHash
    spool: Spool

    def each(self, work: Callable[[Table], T]) -> Iterator[T]:
        """Yield what ``work``, which several threads may do at once, makes of the rows, some at a time."""
        ordered = False
        jobs = (partial(self._hashed, job, work) for job in jobs_of(self.stream))
        for hashed, part, made in workers_of(self.stream).each(jobs):
            self.seen.add(hashed)
            if part is not None:
                ordered = True
                self.spool.add(part)
            yield from made
        if ordered:
            yield from self.spool.each(work)

    def _hashed(self, job: PartJob, work: Callable[[Table], T]) -> tuple[MultisetHash, StreamPart | None, list[T]]:
        """Return the hash of a partition, and itself where it is to be ordered, or what is made of it."""
        part, hashed = job(), self.seen.unseen()
        if part is None:
            return hashed, None, []
        kept = StreamPart(part.table.select(self.names), part.keys)
        hashed.look(kept.table)
        return (hashed, None, [work(kept.table)]) if kept.keys is None else (hashed, kept, [])


def batch(
    table: Table,
    names: Sequence[str] | None = None,
    *,
    typed: bool = False,
    types: Mapping[str, pa.DataType] = MappingProxyType({}),
) -> pa.RecordBatch:
    """Return the rows as sinks take them, columns in the order of ``names``; sets come with what explains them.

    Numbers stay numbers for a sink that is ``typed``, and are texts for others. Texts of columns in ``types`` become
    values of these types again.
    """
    fields, arrays = [], []
    for name in names or table.names:
        sets = table.sets.get(name)
        if sets is not None:
            arrays.append(to_arrow(sets))
        elif name in types:
            arrays.append(_values(name, table[name], types[name]))
        else:
            arrays.append(_cells(table[name], typed=typed))
        fields.append(pa.field(name, arrays[-1].type) if sets is None else field_of(name, sets))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _values(name: str, column: Column, kind: pa.DataType) -> pa.Array:
    used = column.compact()
    try:
        if (used.codes == SUPPRESSED).any():
            raise ValueError("a cell is suppressed")
        values = restored(used.categories, kind)
    except ValueError:
        text = f"the column `{name}` has values of type `{kind}` that cannot be had again from their texts"
        raise data_fault("PPF679", text, advice="declare its type: `type: text` releases it as text") from None
    return values.take(pa.array(used.codes, mask=used.codes == MISSING))


def _cells(column: Column, *, typed: bool) -> pa.Array:
    if typed and isinstance(column, NumericColumn):
        return arrow_numbers(column.values, column.kind, column.missing)
    return arrow(column)


def read_back(release: ReleaseNode, path: Path, resources: Resources, *looks: PartitionObserver) -> SourceStream:
    """Return the released file as a stream. Raises RunError where it cannot be read as what the plan releases."""
    try:
        have = resources
        return stream_of(release, path, have.partition_rows, have.budget, have.stop, *looks, workers=have.workers)
    except DataError as error:
        raise RunError(error.diagnostics) from None


def stream_of(
    release: ReleaseNode,
    path: Path,
    partition_rows: int,
    budget: Budget,
    stop: Stop,
    *looks: PartitionObserver,
    foreign: bool = False,
    workers: Workers = ALONE,
) -> SourceStream:
    """Return a file with exactly the columns of ``release``, in their order. Raises DataError.

    ``foreign``: another tool wrote it.
    """
    source, reading = released_source(release, path, partition_rows, foreign=foreign)
    stream = SourceStream(source, release.attributes, reading, budget, stop, workers=workers)
    stream.load(after=(*released_checks(release), *looks))
    return stream
