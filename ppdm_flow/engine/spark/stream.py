"""Streams of rows on Spark's executors: queries run there, and only the answers come to the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.local.expansion import ExpandedStream
from ppdm_flow.engine.local.source import SourceStream
from ppdm_flow.engine.local.transforms import OrderedStream, RowStream
from ppdm_flow.engine.seam import StepTimer
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.streams.coding import arrow, encode_texts, mark_texts
from ppdm_flow.engine.streams.narrow import NarrowCounts, NarrowTable
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.reading import Budget, ReadOptions
from ppdm_flow.engine.streams.stream import Keys, Places, Stop, Stream, StreamPairs, StreamPart
from ppdm_flow.plan.cluster.amounts import table_bytes
from ppdm_flow.plan.definition import StepNode
from ppdm_flow.sdk.anonymizer import OrderTransform, RowTransform
from ppdm_flow.sdk.paired_relation import WEIGHT, side_by_side
from ppdm_flow.sdk.storage import Source
from ppdm_flow.tables.column import SUPPRESSED, SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import Counts, count, merge, summed
from ppdm_flow.tables.table import RowNumbers, Table

Result = TypeVar("Result")
_AT_ONCE = 1 << 22
"""Combinations of all fragments up to which the driver adds them up itself."""
_LEAST = 1 << 10
"""Combinations that any fragment may answer with."""


class SparkStream:
    """The rows that a recipe makes of the fragments of a source; ``limit`` is what the driver may hold, in bytes."""

    def __init__(
        self,
        farm: Farm,
        fragments: Sequence[Fragment],
        recipe: Recipe,
        attributes: tuple[AttributeFacts, ...],
        rows: int | None = None,
        limit: int | None = None,
    ) -> None:
        self.attributes = attributes
        self.limit = limit
        self.farm = farm
        self.fragments = tuple(fragments)
        self.recipe = recipe
        self._rows = rows

    @property
    def row_count(self) -> int:
        """The number of rows. Raises AttributeError where they would have to be counted."""
        if self._rows is None:
            raise AttributeError("row_count")
        return self._rows

    def then(
        self, layer: FragmentLayer, attributes: tuple[AttributeFacts, ...], *, same_rows: bool = False
    ) -> SparkStream:
        """Return the rows after one more step; ``same_rows`` says that it leaves none out and adds none."""
        rows = self._rows if same_rows else None
        return SparkStream(self.farm, self.fragments, self.recipe.then(layer), attributes, rows, self.limit)

    @property
    def most_rows(self) -> int:
        """How many rows there are at the most: those of the source."""
        return sum(fragment.rows for fragment in self.fragments)

    def check_room(self, columns: int, who: str) -> None:
        """Raise RunError where so many columns of all rows are more than the driver may hold."""
        if self.limit is not None:
            require_room(self.most_rows, columns, self.limit, who)

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions, which come to the driver, a few fragments at a time."""
        names = None if columns is None else tuple(columns)
        for narrow, keys in chain.from_iterable(
            self.farm.waves(PartsWork(self.recipe, _narrow, names), self.fragments)
        ):
            yield StreamPart(narrow.table(narrow.names), keys)

    def results(self, work: Callable[[StreamPart], Result], columns: Sequence[str] | None = None) -> Iterator[Result]:
        """Yield what ``work`` makes of each partition, in the order of rows."""
        parts = PartsWork(self.recipe, work, None if columns is None else tuple(columns))
        yield from chain.from_iterable(self.farm.each(parts, self.fragments))

    def rows_at(self, places: Places, columns: Sequence[str]) -> Iterator[Table]:
        """Yield these columns of the rows at some places of the stream, ascending, from 0, in their order."""
        lengths = [fragment.rows for fragment in self.fragments]
        if self._rows != sum(lengths):
            lengths = list(self.farm.each(_LengthWork(self.recipe), self.fragments))
        ends = np.cumsum(lengths)
        cuts = np.searchsorted(places, ends)
        names = tuple(columns)
        tasks = []
        for number, (fragment, length) in enumerate(zip(self.fragments, lengths, strict=True)):
            wanted = places[(cuts[number - 1] if number else 0) : cuts[number]]
            if len(wanted):
                tasks.append((fragment, wanted - (ends[number] - length)))
        yield from chain.from_iterable(self.farm.each(_RowsWork(self.recipe, names), tasks))

    def counts(self, columns: Sequence[str], weight: str | None) -> Counts:
        """Count combinations: each executor its fragments, Spark what they counted."""
        work = CountsWork(self.recipe, tuple(columns), weight)
        return counted(self.farm, work, self.fragments, tuple(columns))


@dataclass(frozen=True, slots=True)
class _LengthWork:
    recipe: Recipe

    def __call__(self, fragment: Fragment) -> int:
        stream = self.recipe.of(fragment)
        return sum(len(part.table) for part in stream.parts([]))


@dataclass(frozen=True, slots=True)
class _RowsWork:
    """Takes the rows at some places of a fragment, which count what the recipe leaves of it."""

    recipe: Recipe
    names: tuple[str, ...]

    def __call__(self, task: tuple[Fragment, Places]) -> list[Table]:
        fragment, places = task
        if not self.recipe.layers and not self.recipe.reading.selects:
            return list(self.recipe.source(fragment).read_at(places, self.names))
        tables, start = [], 0
        for part in self.recipe.of(fragment).parts(self.names):
            begin, end = np.searchsorted(places, [start, start + len(part.table)])
            if end > begin:
                tables.append(part.table.take(places[begin:end] - start))
            start += len(part.table)
        return tables


def _narrow(part: StreamPart) -> tuple[NarrowTable, Keys | None]:
    return NarrowTable.of(part.table), part.keys


@dataclass(frozen=True, slots=True)
class CountsWork:
    """Counts the combinations of a fragment."""

    recipe: Recipe
    columns: tuple[str, ...]
    weight: str | None

    def __call__(self, fragment: Fragment) -> Iterator[pa.RecordBatch]:
        """Yield the counts of each partition as rows."""
        yield from map(_batch, self.counts(fragment))

    def counts(self, fragment: Fragment) -> Iterator[Counts]:
        """Yield the counts of each partition."""
        wanted = self.columns if self.weight is None else (*self.columns, self.weight)
        for part in self.recipe.of(fragment).parts(wanted):
            yield count(part.table, self.columns, self.weight)

    def nothing(self) -> Counts:
        """Return the counts of no row."""
        return count(Table.of({name: [] for name in self.columns}), self.columns)


@dataclass(frozen=True, slots=True)
class PairCountsWork:
    """Counts combinations of a fragment's original and released cells, under names of :class:`CountingPairs`."""

    original: Recipe
    released: Recipe
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    names: tuple[str, ...]
    weight: str | None

    def __call__(self, fragment: Fragment) -> Iterator[pa.RecordBatch]:
        """Yield the counts of each partition as rows."""
        yield from map(_batch, self.counts(fragment))

    def nothing(self) -> Counts:
        """Return the counts of no row."""
        return count(Table.of({name: [] for name in self.names}), self.names)

    def counts(self, fragment: Fragment) -> Iterator[Counts]:
        """Yield the counts of each partition."""
        pairs = fragment_pairs(self.original, self.released, fragment)
        for table in side_by_side(pairs, *self.columns, self.names, self.weight):
            yield count(table, self.names, self.weight and WEIGHT)


def counted(
    farm: Farm, work: CountsWork | PairCountsWork, fragments: Sequence[Fragment], columns: tuple[str, ...]
) -> Counts:
    """Return the sum of what ``work`` counts in all fragments."""
    few = list(farm.each(FewCounts(work, max(_LEAST, _AT_ONCE // len(fragments))), fragments))
    if all(counts is not None for counts in few):
        every = (each.wide() for each in few if each is not None)
        return merge([count(Table.of({name: [] for name in columns}), columns), *every])
    return _of_rows(farm.grouped(work, fragments, len(columns)), columns)


@dataclass(frozen=True, slots=True)
class FewCounts:
    """The counts of a fragment where they are few; else None, and Spark has to add them up."""

    work: CountsWork | PairCountsWork
    most: int

    def __call__(self, fragment: Fragment) -> NarrowCounts | None:
        """Return the counts of a fragment."""
        merged: Counts | None = None
        for counts in self.work.counts(fragment):
            merged = counts if merged is None else merge([merged, counts])
            if len(merged) > self.most:
                return None
        return NarrowCounts.of(self.work.nothing() if merged is None else merged)


def _batch(counts: Counts) -> pa.RecordBatch:
    """Return counts as rows of texts: null for a missing value, ``⊥`` for a suppressed cell."""
    table = counts.as_table()
    arrays = [arrow(column).cast(pa.string()) for column in table.columns.values()]
    fields = [*((f"c{i}", pa.string()) for i in range(len(arrays))), ("n", pa.int64())]
    return pa.RecordBatch.from_arrays([*arrays, pa.array(counts.counts)], schema=pa.schema(fields))


def _of_rows(table: pa.Table, columns: tuple[str, ...]) -> Counts:
    cells = {}
    for i, name in enumerate(columns):
        texts = table.column(i).combine_chunks() if table.num_rows else pa.array([], pa.string())
        cells[name] = mark_texts(encode_texts(texts), [SUPPRESSED_TEXT], SUPPRESSED)
    numbers = table["n"].fill_null(0).to_numpy().astype(np.int64)
    return summed(Table(cells, np.arange(len(numbers), dtype=np.int64)), columns, numbers)


# Fragments: pieces of a source with the numbers of their rows, which are worked on where they are read.


@dataclass(frozen=True, slots=True)
class Fragment:
    """``first`` is the number of its first row in the source; ``copies`` that of its first single row, if weighted."""

    source: Source
    first: int
    rows: int
    copies: int = 0

    def weighed(self, numbering: Numbering) -> Fragment:
        """Return the fragment with the number of its first single row."""
        return replace(self, copies=int(numbering.first(np.array([self.first]))[0]))


class FragmentStream:
    """The rows of one fragment, read anew whenever they are asked for."""

    def __init__(self, fragment: Fragment, attributes: Sequence[AttributeFacts], reading: ReadOptions) -> None:
        self.attributes = tuple(attributes)
        self.fragment = fragment
        self._reading = reading

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions."""
        return self.opened().read_once(columns)

    def read_at(self, places: Places, columns: Sequence[str]) -> Iterator[Table]:
        """Yield the rows at ``places`` of a fragment that drops none; places are ascending."""
        return self.opened().read_at(places, columns)

    def opened(self) -> SourceStream:
        """Return the fragment as a source of the local engine that remembers nothing."""
        fragment = self.fragment
        return SourceStream(fragment.source, self.attributes, self._reading, Budget(0), Stop(), fragment.first)


class FragmentLayer(Protocol):
    """A step on the way from a source to a stream, which can be pickled."""

    @property
    def orders(self) -> bool:
        """Whether the rows have keys of an order after it."""
        ...

    def over(self, source: Stream, fragment: Fragment) -> Stream:
        """Return the step's rows of one fragment."""
        ...


@dataclass(frozen=True, slots=True)
class RowLayer:
    """A row-wise step."""

    node: StepNode
    transform: RowTransform
    draws: Draws
    orders: ClassVar[bool] = False

    def over(self, source: Stream, fragment: Fragment) -> Stream:  # noqa: ARG002  # rows have their numbers
        """Return the step's rows of one fragment."""
        return RowStream(source, self.node, self.transform, self.draws, StepTimer(), sparing=True)


@dataclass(frozen=True, slots=True)
class OrderLayer:
    """A step that gives keys of an order."""

    node: StepNode
    transform: OrderTransform
    draws: Draws
    orders: ClassVar[bool] = True

    def over(self, source: Stream, fragment: Fragment) -> Stream:  # noqa: ARG002  # the same
        """Return the rows of one fragment with their keys."""
        return OrderedStream(source, self.node, self.transform, self.draws, StepTimer())


@dataclass(frozen=True, slots=True)
class ExpansionLayer:
    """Weighted rows written out; a fragment knows the number of its first copy."""

    weight: str
    orders: ClassVar[bool] = False

    def over(self, source: Stream, fragment: Fragment) -> Stream:
        """Return the single rows of one fragment."""
        numbering = Numbering(self.weight, fragment.copies)
        for part in source.parts([self.weight]):
            numbering.look(part.table)
        return ExpandedStream(source, numbering)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The recipe for a stream's rows from a fragment: read it, then apply one layer after the other."""

    attributes: tuple[AttributeFacts, ...]
    reading: ReadOptions
    layers: tuple[FragmentLayer, ...] = ()

    def then(self, layer: FragmentLayer) -> Recipe:
        """Return the recipe with one more layer."""
        return replace(self, layers=(*self.layers, layer))

    def source(self, fragment: Fragment) -> FragmentStream:
        """Return the rows of one fragment before all layers."""
        return FragmentStream(fragment, self.attributes, self.reading)

    def of(self, fragment: Fragment) -> Stream:
        """Return the stream of one fragment."""
        return self.over(self.source(fragment), fragment)

    def over(self, source: Stream, fragment: Fragment) -> Stream:
        """Return the stream of one fragment, whose rows before all layers are at hand."""
        stream = source
        for layer in self.layers:
            stream = layer.over(stream, fragment)
        return stream


class KeptColumns:
    """The rows of one fragment before all layers. A column that was read once is kept for later requests."""

    def __init__(self, source: FragmentStream) -> None:
        self.attributes = source.attributes
        self._source = source
        self._rows: list[RowNumbers] | None = None
        self._columns: dict[str, list[Column]] = {}

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions."""
        names = tuple(a.name for a in self.attributes) if columns is None else tuple(columns)
        self._read([name for name in names if name not in self._columns])
        for place, rows in enumerate(self._rows or []):
            yield StreamPart(Table({name: self._columns[name][place] for name in names}, rows))

    def _read(self, names: Sequence[str]) -> None:
        if self._rows is not None and not names:
            return
        tables = [part.table for part in self._source.parts(names)]
        self._rows = [table.rows for table in tables]
        self._columns |= {name: [table[name] for table in tables] for name in names}


def fragment_pairs(original: Recipe, released: Recipe, fragment: Fragment) -> StreamPairs:
    """Return the rows of two recipes of one fragment side by side; what both read is read once, but for sets."""
    same = original.attributes == released.attributes and original.reading == released.reading
    if same and all(facts.role is not Role.ITEMS for facts in original.attributes):
        kept = KeptColumns(original.source(fragment))
        return StreamPairs(original.over(kept, fragment), released.over(kept, fragment), aligned=True)
    return StreamPairs(original.of(fragment), released.of(fragment), aligned=True)


@dataclass(frozen=True, slots=True)
class PartsWork(Generic[Result]):
    """The work on each partition of a fragment."""

    recipe: Recipe
    work: Callable[[StreamPart], Result]
    columns: tuple[str, ...] | None

    def __call__(self, fragment: Fragment) -> list[Result]:
        """Return the results of the fragment's partitions."""
        return [self.work(part) for part in self.recipe.of(fragment).parts(self.columns)]


_ADVICE = "give it more with --memory, take a step that works row by row, or run it on one large machine"


def require_room(rows: int, columns: int, limit: int, who: str) -> None:
    """Raise RunError where so many rows and columns are more than the driver may hold; ``who`` needs them."""
    needed = table_bytes(rows, columns)
    if needed > limit:
        raise run_fault(
            "PPF953",
            f"{who} needs the whole table on the driver: {rows:,} rows of {columns} columns take"
            f" {needed >> 20:,} MB, and the run may take {limit >> 20:,} MB",
            advice=_ADVICE,
        )


def require_bytes(nbytes: int, limit: int, who: str) -> None:
    """Raise RunError where what has come to the driver is more than it may hold."""
    if nbytes > limit:
        raise run_fault(
            "PPF953",
            f"{who} needs more on the driver than the run may take:"
            f" {nbytes >> 20:,} MB have come, of {limit >> 20:,} MB",
            advice=_ADVICE,
        )
