"""Tables that need not fit into memory: partitions, made when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import RunError
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.streams.narrow import NarrowTable
from ppdm_flow.engine.streams.reading import PartitionObserver, SeparableLook
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.sdk.paired_relation import pair_counts
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import RowNumbers, Table, concat

Keys = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Texts = Mapping[str, pa.ChunkedArray]
"""Texts by column."""
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class StreamPart:
    """One partition; ``keys`` are the order that an earlier step asked for, still to be carried out."""

    table: Table
    keys: Keys | None = None

    def __len__(self) -> int:
        return len(self.table)

    def kept(self, table: Table) -> StreamPart:
        """Return ``table``, made of some of these rows in their order, with the keys of the rows that stayed."""
        if self.keys is None or table.rows is self.table.rows:
            return StreamPart(table, self.keys)
        return StreamPart(table, self.keys[positions(self.table.rows, table.rows)])


def part_keys(part: StreamPart) -> Keys:
    """Return the keys of a partition's rows: all 0 where no step asked for an order."""
    return np.zeros(len(part.table), dtype=np.uint64) if part.keys is None else part.keys


def positions(rows: RowNumbers, wanted: RowNumbers) -> npt.NDArray[np.int64]:
    """Return where each of ``wanted`` stands in ``rows``, -1 for those that are not there."""
    if len(rows) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    order = None if bool((rows[1:] > rows[:-1]).all()) else np.argsort(rows, kind="stable")
    places = np.minimum(np.searchsorted(rows, wanted, sorter=order), len(rows) - 1)
    if order is not None:
        places = order[places]
    positions_or_minus_one: npt.NDArray[np.int64] = np.where(rows[places] == wanted, places, -1).astype(np.int64)
    return positions_or_minus_one


class Stream(Protocol):
    """A table in partitions; asking twice gives the same."""

    attributes: tuple[AttributeFacts, ...]

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions with these columns (all where None), in the order of rows."""
        ...


@runtime_checkable
class CountedStream(Protocol):
    """A stream that knows its number of rows; of others the rows are counted."""

    @property
    def row_count(self) -> int:
        """The number of physical rows."""
        ...


@runtime_checkable
class PickedStream(Stream, Protocol):
    """A stream that gives single rows without making all others."""

    def rows_at(self, places: Places, columns: Sequence[str]) -> Iterator[Table]:
        """Yield these columns of the rows at some places of the stream, ascending, from 0, in their order."""
        ...


@runtime_checkable
class DistributedStream(PickedStream, Protocol):
    """A stream whose partitions are elsewhere: what is asked of them goes there, and only the answers come back."""

    def results(self, work: Callable[[StreamPart], Result], columns: Sequence[str] | None = None) -> Iterator[Result]:
        """Yield what ``work``, which can be pickled, makes of each partition, in the order of rows."""
        ...

    def counts(self, columns: Sequence[str], weight: str | None) -> Counts:
        """Count combinations."""
        ...

    def check_room(self, columns: int, who: str) -> None:
        """Raise RunError, about ``who``, where so many columns of all rows are more than this process may hold."""
        ...


@runtime_checkable
class TalliedStream(Stream, Protocol):
    """A stream that counts what is in each partition without making it."""

    def tallies(self, columns: Sequence[str], weight: str | None) -> Iterator[Counts]:
        """Yield the counts of the combinations of these columns in each partition, in the order of rows."""
        ...


@runtime_checkable
class EachTalliedStream(Stream, Protocol):
    """A stream that counts several columns in one pass."""

    def tallies_each(self, columns: Sequence[str]) -> Iterator[dict[str, Counts]]:
        """Yield the counts of each column by itself in each partition; of some columns, none."""
        ...


PartJob = Callable[[], StreamPart | None]
"""Makes one partition, or None where it has no row; any thread may carry it out, in any order."""


@runtime_checkable
class SharedStream(Stream, Protocol):
    """A stream whose partitions several threads make at once.

    ``workers`` is set when the stream is made: asking for the type of a stream reads it.
    """

    workers: Workers

    def jobs(self, columns: Sequence[str] | None = None) -> Iterator[PartJob]:
        """Yield what makes the partitions with these columns, in the order of rows."""
        ...


def workers_of(stream: Stream) -> Workers:
    """Return the threads that may make the partitions of a stream."""
    return stream.workers if isinstance(stream, SharedStream) else ALONE


def jobs_of(stream: Stream, columns: Sequence[str] | None = None) -> Iterator[PartJob]:
    """Yield what makes the partitions; of a stream that makes them by itself they are made already."""
    if isinstance(stream, SharedStream):
        return stream.jobs(columns)
    return (partial(_made, part) for part in stream.parts(columns))


def parts_of(stream: SharedStream, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
    """Yield the partitions that have a row, some of which are made at once."""
    return (part for part in stream.workers.each(stream.jobs(columns)) if part is not None)


def _made(part: StreamPart) -> StreamPart:
    return part


def tallies(stream: Stream, columns: Sequence[str], weight: str | None) -> Iterator[Counts]:
    """Yield the counts of the combinations of these columns, weighted, in each partition."""
    if isinstance(stream, TalliedStream):
        return stream.tallies(columns, weight)
    wanted = columns if weight is None else (*columns, weight)
    return results(stream, partial(counts_of_part, columns, weight), wanted)


def counts_of_part(columns: Sequence[str], weight: str | None, part: StreamPart) -> Counts:
    """Return the counts of the combinations of these columns in a partition."""
    return count(part.table, columns, weight)


def check_room(stream: Stream, columns: int, who: str) -> None:
    """Raise RunError where so many columns of all rows may not be held here; rows that are here are not looked at."""
    if isinstance(stream, DistributedStream):
        stream.check_room(columns, who)


def texts_of_part(names: Sequence[str], part: StreamPart) -> Texts:
    """Return the texts that occur in these columns of a partition, or in their sets."""
    return {name: pa.chunked_array([part.table.texts(name)], pa.string()) for name in names}


def results(
    stream: Stream, work: Callable[[StreamPart], Result], columns: Sequence[str] | None = None
) -> Iterator[Result]:
    """Yield what ``work`` makes of each partition, wherever these are, in the order of rows."""
    if isinstance(stream, DistributedStream):
        yield from stream.results(work, columns)
        return
    jobs = (partial(_worked, job, work) for job in jobs_of(stream, columns))
    for made in workers_of(stream).each(jobs):
        yield from made


def _worked(job: PartJob, work: Callable[[StreamPart], Result]) -> list[Result]:
    part = job()
    return [] if part is None else [work(part)]


class ReadBack(Stream, Protocol):
    """The rows that audits judge: those of a file, or of a table that is in none."""

    @property
    def longest_line(self) -> int:
        """The most bytes that a row can take as a line of CSV; 0 where there is no file."""
        ...


@runtime_checkable
class LoadedStream(Stream, Protocol):
    """The rows of a source or of a released file. :meth:`load` comes first; any thread may ask for partitions then."""

    @property
    def rows_read(self) -> int:
        """How many rows were read, those that were dropped then too."""
        ...

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        ...

    def load(self, before: Sequence[PartitionObserver] = (), after: Sequence[PartitionObserver] = ()) -> None:
        """Read everything once; ``before`` see every partition as it is read, ``after`` without dropped rows."""
        ...

    def columns_at_hand(self, names: Sequence[str]) -> frozenset[str]:
        """Return those of the columns whose texts are at hand, without reading the file once more."""
        ...

    @property
    def longest_line(self) -> int:
        """The most bytes that a row can take as a line of CSV, every quote doubled."""
        ...

    def possible(self, texts: AbstractSet[str], names: Sequence[str]) -> AbstractSet[str]:
        """Return those of ``texts`` that may be values of these columns, or begin like one, as far as that is known."""
        ...

    def searched(self, work: Callable[[Texts], Result], names: Sequence[str]) -> Iterator[Result]:
        """Yield what ``work``, which can be pickled, makes of the texts in these columns, or in their sets.

        It gets them often more than once, all together where they are held. Some may belong to rows that were dropped.
        """
        ...


def schema_of(attributes: Sequence[AttributeFacts]) -> Schema:
    """Return the schema that plugins see."""
    return Schema(tuple(Field(a.name, a.role, a.type, a.domain, a.is_numeric) for a in attributes))


class Stop:
    """Tells every thread of a run to end at its next partition."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask to end."""
        self._event.set()

    def check(self) -> None:
        """Raise where someone asked to end."""
        if self._event.is_set():
            raise StoppedError(run_fault("PPF907", "stopped, because another part of the run failed").diagnostics)


class StoppedError(RunError):
    """Work that was given up; never the reason that a run fails for."""


# Original and released rows side by side.


class StreamPairs:
    """A PairedView over two streams with row numbers of one kind, the released one before it is shuffled.

    ``aligned`` says that both yield their rows in ascending order: then neither is ever held as a whole.
    """

    def __init__(self, original: Stream, released: Stream, *, aligned: bool) -> None:
        self._original = original
        self._released = released
        self._aligned = aligned

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield aligned partitions: row i of one is row i of the other."""
        left = (p.table for p in self._original.parts(list(original)))
        right = (p.table for p in self._released.parts(list(released)))
        return _merged(left, right) if self._aligned else _looked_up(left, right)

    def joint(self, original: str, released: str) -> Counts:
        """Count (original value, released value) over all rows."""
        return self.counts([original], [released], ["original", "released"])

    def counts(
        self, original: Sequence[str], released: Sequence[str], names: Sequence[str], weight: str | None = None
    ) -> Counts:
        """Count the combinations of original values and released cells, under ``names``; ``weight`` is released."""
        return pair_counts(self, original, released, names, weight)


def _merged(left: Iterator[Table], right: Iterator[Table]) -> Iterator[tuple[Table, Table]]:
    """Join two ascending sequences of partitions; at most a few partitions are held."""
    pending: Table | None = None
    for table in right:
        while pending is None or not len(pending) or pending.rows[-1] < table.rows[-1]:
            more = next(left, None)
            if more is None:
                break
            pending = more if pending is None or not len(pending) else concat([pending, more])
        if pending is None:
            return
        if np.array_equal(pending.rows, table.rows):  # so it is where neither side has dropped a row
            yield pending, table
            pending = None
            continue
        places = positions(pending.rows, table.rows)
        there = places >= 0
        if there.any():
            yield pending.take(places[there]), table.take(there) if not there.all() else table
        pending = pending.take(pending.rows > table.rows[-1])


def _looked_up(left: Iterator[Table], right: Iterator[Table]) -> Iterator[tuple[Table, Table]]:
    """Join where the released rows come in any order: they are held whole."""
    parts = list(right)
    if not parts:
        return
    stacked = concat(parts)
    order = np.argsort(stacked.rows, kind="stable")
    stacked = stacked.take(order)
    for table in left:
        places = positions(stacked.rows, table.rows)
        there = places >= 0
        if there.any():
            yield table.take(there), stacked.take(places[there])


# Partitions of a file as they are read, and what sees them: the threads that make them, or in the order of rows.


@dataclass(frozen=True, slots=True)
class ObservedPartition:
    """The observations of the separable looks on one partition, or the error that one of them raised."""

    looks: tuple[SeparableLook, ...] = ()
    error: Exception | None = None


class Looks:
    """The looks of one pass. With ``apart``, those for which the order of partitions does not matter are separable."""

    def __init__(self, looks: Iterable[PartitionObserver], *, apart: bool) -> None:
        every = tuple(looks)
        self._separable = tuple(look for look in every if apart and isinstance(look, SeparableLook))
        self._ordered = tuple(look for look in every if look not in self._separable)

    def aside(self, table: Table) -> ObservedPartition:
        """Let the separable looks see a partition; any thread may do so."""
        own = tuple(look.unseen() for look in self._separable)
        try:
            for look in own:
                look.look(table)
        except Exception as error:  # noqa: BLE001  # raised where the partition comes in the order of rows
            return ObservedPartition(own, error)
        return ObservedPartition(own)

    def take(self, table: Table, seen: ObservedPartition) -> None:
        """Take in a partition in the order of rows, with what was seen of it aside. Raises DataError."""
        if seen.error is not None:
            raise seen.error
        for look, own in zip(self._separable, seen.looks, strict=True):
            look.add(own)
        for ordered in self._ordered:
            ordered.look(table)


NO_LOOKS = Looks((), apart=True)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A partition as read, the part that may be kept, and observations before and after rows are dropped."""

    table: Table
    narrow: NarrowTable | None
    before: ObservedPartition
    after: ObservedPartition


Coding = Callable[[], list[ReadTable]]
"""Codes the blocks of some partitions; any thread may do so."""


def renumbered(tables: Iterable[ReadTable], rows: Places) -> Iterator[ReadTable]:
    """Yield the partitions under these row numbers, one after the other."""
    start = 0
    for read in tables:
        table = read.table
        yield replace(read, table=Table(table.columns, rows[start : start + len(table)], table.sets))
        start += len(table)
