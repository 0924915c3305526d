"""Tables that need not fit into memory: partitions, made when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import RunError
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.streams.reading import PartitionObserver
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import RowNumbers, Table

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

    def held(self, names: Sequence[str]) -> frozenset[str]:
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
