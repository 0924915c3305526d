"""Rows that Spark's executors hold: asked there, and only the answers come to the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.fragments import Fragment, FragmentLayer, PartsWork, Recipe, fragment_pairs
from ppdm_flow.engine.spark.limits import require_room
from ppdm_flow.engine.streams.coding import arrow, encode_texts, mark_texts
from ppdm_flow.engine.streams.narrow import NarrowCounts, NarrowTable
from ppdm_flow.engine.streams.stream import Keys, Places, StreamPart
from ppdm_flow.sdk.paired_relation import WEIGHT, side_by_side
from ppdm_flow.tables.column import SUPPRESSED, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts, count, merge, summed
from ppdm_flow.tables.table import Table

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
    """What a fragment's counts are where they are few; else None, and Spark has to add them up."""

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
