"""The source as a stream: read once whole, checked, and kept coded in memory where it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.streams.coding import mark_texts, respelled_cells
from ppdm_flow.engine.streams.narrow import DenseTally, NarrowTable
from ppdm_flow.engine.streams.numbers import NumberReader, Spellings
from ppdm_flow.engine.streams.reading import Budget, PartitionObserver, ReadOptions
from ppdm_flow.engine.streams.rebatching import Job, partition_jobs, picked
from ppdm_flow.engine.streams.stream import (
    NO_LOOKS,
    Coding,
    Looks,
    PartJob,
    Places,
    ReadTable,
    Result,
    Stop,
    StreamPart,
    Texts,
    counts_of_part,
    parts_of,
    renumbered,
    results,
    texts_of_part,
)
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.sdk.storage import Source, ThreadlessSource, TypedSource
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import LONGEST_NUMBER, NumericColumn
from ppdm_flow.tables.table import Table

_PAIR = 2


class SourceStream:
    """A file's rows, numbered from ``start``. :meth:`load` must come first; then any thread may ask for partitions."""

    def __init__(
        self,
        source: Source,
        attributes: Sequence[AttributeFacts],
        reading: ReadOptions,
        budget: Budget,
        stop: Stop,
        start: int = 0,
        workers: Workers = ALONE,
    ) -> None:
        self.attributes = tuple(attributes)
        self.workers = workers
        self.rows_read = 0
        self.row_count = 0
        self._longest: dict[str, int] = {}
        self._source = source
        self._reading = reading
        self._budget = budget
        self._stop = stop
        self._start = start
        self._held: HeldRows | None = HeldRows(stop)
        self._kept: list[npt.NDArray[np.uint8]] = []
        self._spellings: dict[str, Spellings] = {}
        self._last_readers: Mapping[str, NumberReader] = {}

    def load(self, before: Sequence[PartitionObserver] = (), after: Sequence[PartitionObserver] = ()) -> None:
        """Read everything once; ``before`` see every partition as it is read, ``after`` without dropped rows."""
        names = tuple(dict.fromkeys((*self._names, *self._reading.incomplete)))
        foreign = self._reading.foreign  # it is looked at in the order of rows
        keeps_all = not (self._reading.selects or foreign)
        looks = Looks(before, apart=not foreign), Looks(after, apart=keeps_all)
        for read in self._tables(names, narrow=keeps_all and self._held is not None, looks=looks):
            looks[0].take(read.table, read.before)
            self.rows_read += len(read.table)
            kept = self._complete(read.table)
            self.row_count += len(kept)
            looks[1].take(kept, read.after)
            self._measure(kept)
            self._remember(kept, read.narrow)

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions, from memory or from the file again."""
        names = self._names if columns is None else tuple(columns)
        if self._held is not None:
            yield from parts_of(self, names)
            return
        for number, table in enumerate(self._read(names)):
            kept = table
            if self._reading.selects:
                mask = np.unpackbits(self._kept[number], count=len(table)).astype(bool)
                kept = table.take(mask)
            if len(kept):
                yield StreamPart(kept)

    def jobs(self, columns: Sequence[str] | None = None) -> Iterator[PartJob]:
        """Yield what makes the same partitions; where these are in a file, the next one is read meanwhile."""
        names = self._names if columns is None else tuple(columns)
        if self._held is None:
            return (partial(_made, part) for part in self.parts(names))
        return self._held.jobs(names)

    def tallies(self, columns: Sequence[str], weight: str | None) -> Iterator[Counts]:
        """Yield the counts of the combinations of these columns in each partition, as it is held or as it is read."""
        names = tuple(columns)
        if self._held is not None:
            return self._held.tallies(names, weight, self.workers)
        wanted = names if weight is None else (*names, weight)
        return results(self, partial(counts_of_part, names, weight), wanted)

    def tallies_each(self, columns: Sequence[str]) -> Iterator[dict[str, Counts]]:
        """Yield the counts of each column by itself in each partition, of those that are held and have few values."""
        return iter(()) if self._held is None else self._held.tallies_each(columns, self.workers)

    def rows_at(self, places: Places, columns: Sequence[str]) -> Iterator[Table]:
        """Yield these columns of the rows at some places, ascending, from 0: of what is held nothing else is made."""
        names, start = tuple(columns), 0
        for part in self.parts(names) if self._held is None else self._held.tables:
            begin, end = np.searchsorted(places, [start, start + len(part)])
            if end > begin:
                wanted = places[begin:end] - start
                yield part.table.take(wanted) if isinstance(part, StreamPart) else part.take(wanted, names)
            start += len(part)

    def read_once(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions that have a row left, from the file, without having loaded it; nothing is remembered."""
        names = self._names if columns is None else tuple(columns)
        weight = () if self._reading.weight is None else (self._reading.weight,)
        for table in self._read(tuple(dict.fromkeys((*names, *self._reading.incomplete, *weight)))):
            kept = table.take(self._reading.kept(table)) if self._reading.selects else table
            if len(kept):
                yield StreamPart(kept.select(names))

    def read_at(self, places: Places, columns: Sequence[str]) -> Iterator[Table]:
        """Yield the rows at ``places`` of a file that drops none; places are ascending and start at 0."""
        return self._read(tuple(columns), places)

    def columns_at_hand(self, names: Sequence[str]) -> frozenset[str]:
        """Return those of the columns whose texts are at hand: all or none."""
        return frozenset(names if self._held is not None else ())

    def possible(self, texts: AbstractSet[str], names: Sequence[str]) -> AbstractSet[str]:  # noqa: ARG002  # unknown
        """Return the texts that may be values of these columns: all."""
        return texts

    def searched(self, work: Callable[[Texts], Result], names: Sequence[str]) -> Iterator[Result]:
        """Yield what ``work`` makes of the texts in these columns, or in their sets, often more than once.

        Some may belong to rows that were dropped.
        """
        if self._held is not None:
            tables = self._held.tables
            yield work({n: pa.chunked_array([t.texts(n) for t in tables], pa.string()) for n in names})
            return
        for part in self.parts(names):
            yield work(texts_of_part(names, part))

    @property
    def longest_line(self) -> int:
        """The most bytes that a row can take as a line of CSV, every quote doubled."""
        return sum(2 * size + 3 for size in self._longest.values())

    @property
    def longest(self) -> Mapping[str, int]:
        """The longest text of each column, in bytes."""
        return self._longest

    @property
    def zoned(self) -> Mapping[str, bool]:
        """Whether the timestamps of a column have an offset from UTC, where the last pass has seen some."""
        zones = {name: reader.zoned for name, reader in self._last_readers.items()}
        return {name: zoned for name, zoned in zones.items() if zoned is not None}

    def release(self) -> None:
        """Forget what is held in memory."""
        if self._held is not None:
            self._budget.give(self._held.size)
        self._held = None

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.attributes)

    def _read(self, names: tuple[str, ...], places: Places | None = None) -> Iterator[Table]:
        return (read.table for read in self._tables(names, places))

    def _tables(
        self,
        names: tuple[str, ...],
        places: Places | None = None,
        *,
        narrow: bool = False,
        looks: tuple[Looks, Looks] = (NO_LOOKS, NO_LOOKS),
    ) -> Iterator[ReadTable]:
        """Yield partitions as they are read, coded several at once; ``narrow`` asks for what may be kept of them."""
        with wrap_plugin_errors(self._reading.who):
            columns = {n: self._reading.columns[n] for n in names}
            readers = self._last_readers = {n: r for n, r in self._readers().items() if n in columns}
            blocks, each = self._blocks(columns, readers)
            spelled = (respelled_cells(block, self._reading.normalize) for block in blocks)
            rows = spelled if places is None else picked(spelled, places)
            jobs = partition_jobs(rows, names, self._reading.partition_rows, readers, self._start)
            tables = chain.from_iterable(each(partial(self._coded, narrow, looks, job) for job in jobs))
            for read in tables if places is None else renumbered(tables, places + self._start):
                self._stop.check()
                yield replace(read, table=self._marked(read.table)) if self._reading.foreign else read

    def _coded(self, narrow: bool, looks: tuple[Looks, Looks], job: Job) -> list[ReadTable]:
        """Carry out a job. What another tool wrote is looked at in the order of rows, so not here."""
        tables = [table if self._reading.foreign else self._marked(table) for table in job()]
        return [
            ReadTable(
                table,
                NarrowTable.of(table.select(self._names)) if narrow else None,
                *(look.aside(table) for look in looks),
            )
            for table in tables
        ]

    def _readers(self) -> dict[str, NumberReader]:
        """Return readers of the numeric columns, which remember what they have seen: new ones for every pass."""
        typed = {a.name: a for a in (*self._reading.typed, *self.attributes) if a.is_numeric}
        return {
            name: NumberReader(
                facts,
                self._reading.missing,
                released=self._reading.released,
                spelling=self._reading.number_spelling,
            )
            for name, facts in typed.items()
        }

    def _blocks(
        self, columns: Mapping[str, str], readers: Mapping[str, NumberReader]
    ) -> tuple[Iterator[pa.RecordBatch], Callable[[Iterator[Coding]], Iterator[list[ReadTable]]]]:
        """Return the blocks, and what has them coded; a source that can do so leaves numbers as they are.

        Two workers decode blocks themselves: threads besides would take their cores. More workers would wait for each
        other, and numbers are read in the order of rows; who reads without a run has one, and all cores to decode.
        """
        names, types = list(columns.values()), {columns[n]: reader.facts.type for n, reader in readers.items()}
        if not types and self.workers.number == _PAIR and isinstance(self._source, ThreadlessSource):
            return self._source.threadless_batches(names), self.workers.each_drawn
        if types and isinstance(self._source, TypedSource):
            return self._source.typed_batches(names, types), self._each_ahead
        return self._source.batches(names), self._each_ahead

    def _each_ahead(self, jobs: Iterator[Coding]) -> Iterator[list[ReadTable]]:
        return self.workers.each(self.workers.ahead(jobs))

    def _marked(self, table: Table) -> Table:
        texts = {n: c for n, c in table.columns.items() if not isinstance(c, NumericColumn)}
        if self._reading.released:
            if self._reading.missing:
                texts = {n: mark_texts(c, self._reading.missing, MISSING) for n, c in texts.items()}
            marked = {n: mark_texts(c, [SUPPRESSED_TEXT], SUPPRESSED) for n, c in texts.items()}
            return table.replaced({n: self._spelled(n, c, table) for n, c in marked.items()})
        if not self._reading.missing:
            return table
        return table.replaced({n: mark_texts(c, self._reading.missing, MISSING) for n, c in texts.items()})

    def _spelled(self, name: str, column: Column, table: Table) -> Column:
        """Return numbers in the file of another tool as typed columns spell them; labels of our own stay as they are.

        Raises DataError where the file has one number in two spellings, which tell its rows apart.
        """
        facts = next(a for a in self.attributes if a.name == name)
        if not (self._reading.foreign and facts.type.is_numeric):
            return column
        spellings = self._spellings.setdefault(name, Spellings(facts))
        return spellings.look(column, table.rows)

    def _complete(self, table: Table) -> Table:
        if not self._reading.selects:
            return table
        mask = self._reading.kept(table)
        self._kept.append(np.packbits(mask))
        return table.take(mask)

    def _measure(self, table: Table) -> None:
        for name, column in table.columns.items():
            numeric = isinstance(column, NumericColumn)
            size = LONGEST_NUMBER if numeric else pc.max(pc.binary_length(column.categories)).as_py() or 0
            self._longest[name] = max(size, self._longest.get(name, 0))

    def _remember(self, table: Table, narrow: NarrowTable | None) -> None:
        if self._held is None or not len(table):
            return
        if narrow is None:
            narrow = NarrowTable.of(table.select(self._names))
        size = narrow.nbytes
        if self._budget.take(size):
            self._held.tables.append(narrow)
            self._held.size += size
        else:
            self.release()


def _made(part: StreamPart) -> StreamPart:
    return part


@dataclass(slots=True)
class HeldRows:
    """``tables`` are the partitions, of ``size`` bytes together."""

    stop: Stop
    tables: list[NarrowTable] = field(default_factory=list)
    size: int = 0

    def jobs(self, names: tuple[str, ...]) -> Iterator[PartJob]:
        """Yield what makes the partitions with these columns."""
        return (partial(self._widened, narrow, names) for narrow in self.tables)

    def tallies(self, names: tuple[str, ...], weight: str | None, workers: Workers) -> Iterator[Counts]:
        """Yield the counts of the combinations of these columns in each partition."""
        return workers.each(partial(self._tallied, narrow, names, weight) for narrow in self.tables)

    def tallies_each(self, names: Sequence[str], workers: Workers) -> Iterator[dict[str, Counts]]:
        """Yield the counts of each column by itself, of those that have few values in all partitions.

        One job a partition: a column of it takes so little time that threads would mostly wait for each other.
        Partitions with the same categories are added up before anything is made of their numbers.
        """
        few = tuple(n for n in names if all(table.has_few_values(n) for table in self.tables))
        sums: dict[str, DenseTally] = {}
        for tallied in workers.each(partial(self._tallied_each, narrow, few) for narrow in self.tables if few):
            for name, tally in tallied.items():
                together = sums[name].with_later(tally) if name in sums else tally
                if together is None:
                    yield {name: sums[name].counts(name)}
                sums[name] = together or tally
        if sums:
            yield {name: tally.counts(name) for name, tally in sums.items()}

    def _widened(self, narrow: NarrowTable, names: tuple[str, ...]) -> StreamPart:
        self.stop.check()
        return StreamPart(narrow.table(names))

    def _tallied(self, narrow: NarrowTable, names: tuple[str, ...], weight: str | None) -> Counts:
        self.stop.check()
        return narrow.counts(names, weight)

    def _tallied_each(self, narrow: NarrowTable, names: tuple[str, ...]) -> dict[str, DenseTally]:
        self.stop.check()
        tallies = ((name, narrow.tally(name)) for name in names)
        return {name: tally for name, tally in tallies if tally is not None}
