"""A source in fragments: split, its rows counted, looked at once by the executors."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.faults import data_fault, wrap_plugin_errors
from ppdm_flow.engine.opening.many_files import ManyFiles, WholePiece
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.stream import Fragment, FragmentStream, Recipe, SparkStream
from ppdm_flow.engine.streams.narrow import NarrowCounts
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.reading import PartitionObserver, ReadOptions
from ppdm_flow.engine.streams.stream import Result, StreamPart, Texts, texts_of_part
from ppdm_flow.engine.streams.traits import TextTraits
from ppdm_flow.plan.cluster.amounts import MOST_VALUES
from ppdm_flow.sdk.storage import Source, SourcePiece, SplittableSource
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

FRAGMENT_ROWS = 1 << 20
"""Rows of a fragment: so many does an executor hold at once, beside what it makes of them."""

_LEAST_VALUES = 1 << 8


class SparkSource(SparkStream):
    """A source's rows. :meth:`load` comes first."""

    def __init__(
        self,
        farm: Farm,
        source: Source,
        attributes: Sequence[AttributeFacts],
        reading: ReadOptions,
        limit: int | None = None,
    ) -> None:
        every = tuple(attributes)
        super().__init__(farm, (), Recipe(every, reading), every, limit=limit)
        self.rows_read = 0
        self._rows = 0
        self._source = source
        self._longest: dict[str, int] = {}
        self._counts: Mapping[str, Counts] = {}
        self._together: list[Counts] = []
        self._lock = threading.Lock()
        self._traits = TextTraits(a.name for a in every if not a.is_numeric)

    def load(self, before: Sequence[PartitionObserver] = (), after: Sequence[PartitionObserver] = ()) -> None:
        """Split the source, and let the looks see all rows: each executor's copies, which are added up here."""
        reading = self.recipe.reading
        with wrap_plugin_errors(reading.who):
            pieces = _pieces(self._source)
            self.fragments = tuple(_numbered(pieces, self._counted(pieces)))
        most = max(_LEAST_VALUES, MOST_VALUES // max(1, len(self.fragments)))
        work, gathered = _LoadWork(self.recipe, tuple(before), tuple(after), most), GatheredCounts()
        zoned: dict[str, bool] = {}
        for loaded, fragment in zip(self.farm.each(work, self.fragments), self.fragments, strict=True):
            for mine, theirs in zip((*before, *after), (*loaded.before, *loaded.after), strict=True):
                mine.add(theirs)
            self.rows_read += loaded.rows_read
            self._rows = self.row_count + loaded.row_count
            for name, size in loaded.longest.items():
                self._longest[name] = max(size, self._longest.get(name, 0))
            gathered.take(loaded.counts, None if loaded.together is None else loaded.together.wide())
            self._traits.add(loaded.traits)
            self._same_zones(zoned, loaded.zoned, fragment)
        self._counts = gathered.counts()
        self._together = gathered.together()
        self._weigh(after)

    @property
    def longest_line(self) -> int:
        """The most bytes that a row can take as a line of CSV, every quote doubled."""
        return sum(2 * size + 3 for size in self._longest.values())

    def counts(self, columns: Sequence[str], weight: str | None) -> Counts:
        """Count combinations; single columns of few values were counted when the source was read.

        So were the quasi-identifiers with others where these have few combinations. Columns that add few are counted
        besides: to read the rows costs more, and they are asked for next.
        """
        if len(columns) == 1 and weight is None and columns[0] in self._counts:
            return self._counts[columns[0]]
        wider = widened(frozenset(columns), {name: len(each) for name, each in self._counts.items()})
        if weight is not None or not wider or not columns:
            return super().counts(columns, weight)
        with self._lock:
            known = next((each for each in self._together if frozenset(columns) <= frozenset(each.columns)), None)
            if known is None:
                known = super().counts([a.name for a in self.attributes if a.name in wider], None)
                self._together.append(known)
        return known.project(columns)

    def columns_at_hand(self, names: Sequence[str]) -> frozenset[str]:
        """Return those of the columns that were counted when the source was read."""
        return frozenset(names) & frozenset(self._counts)

    def possible(self, texts: AbstractSet[str], names: Sequence[str]) -> AbstractSet[str]:
        """Return those of ``texts`` that may be values of these columns, by what all of their values look like."""
        return self._traits.possible(texts, names)

    def searched(self, work: Callable[[Texts], Result], names: Sequence[str]) -> Iterator[Result]:
        """Yield what ``work`` makes of the texts in these columns: the executors', but of columns that are counted."""
        counted = self.columns_at_hand(names)
        for name in (name for name in names if name in counted):
            yield work({name: pa.chunked_array([self._counts[name].names(name)], pa.string())})
        rest = tuple(name for name in names if name not in counted)
        if rest:
            yield from self.results(partial(_of_texts, work, rest), rest)

    def _counted(self, pieces: Sequence[SourcePiece]) -> list[int]:
        """Return the rows of each piece; those of formats that do not say it are read once."""
        unknown = [place for place, piece in enumerate(pieces) if piece.rows is None]
        rows = [piece.rows or 0 for piece in pieces]
        try:
            numbers = self.farm.each(_rows_of, [pieces[i] for i in unknown])
            for place, number in zip(unknown, numbers, strict=True):
                rows[place] = number
        except Exception:
            _explain(pieces)
            raise
        return rows

    def _same_zones(self, known: dict[str, bool], loaded: Mapping[str, bool], fragment: Fragment) -> None:
        """Raise DataError where timestamps have an offset from UTC in one fragment, and none in another."""
        for name, zoned in loaded.items():
            if known.setdefault(name, zoned) is not zoned:
                rows = f"rows {fragment.first + 1} to {fragment.first + fragment.rows}"
                text = f"{rows}: column `{name}` has timestamps with an offset from UTC where others have none, or not"
                facts = next(a for a in (*self.recipe.reading.typed, *self.attributes) if a.name == name)
                raise data_fault("PPF712", text, span=facts.span)

    def _weigh(self, looks: Sequence[PartitionObserver]) -> None:
        """Tell the fragments of a weighted source the number of their first copy."""
        for look in looks:
            if isinstance(look, Numbering):
                self.fragments = tuple(f.weighed(look) for f in self.fragments)


@dataclass(frozen=True, slots=True)
class _Loaded:
    before: tuple[PartitionObserver, ...]
    after: tuple[PartitionObserver, ...]
    rows_read: int
    row_count: int
    longest: Mapping[str, int]
    zoned: Mapping[str, bool]
    counts: Mapping[str, Counts | None]
    together: NarrowCounts | None
    traits: TextTraits


@dataclass(frozen=True, slots=True)
class _LoadWork:
    recipe: Recipe
    before: tuple[PartitionObserver, ...]
    after: tuple[PartitionObserver, ...]
    most: int

    def __call__(self, fragment: Fragment) -> _Loaded:
        before, after = (deepcopy(looks) for looks in (self.before, self.after))  # a worker has several
        stream = FragmentStream(fragment, self.recipe.attributes, self.recipe.reading).opened()
        first = frozenset(a.name for a in self.recipe.attributes if a.role is Role.QUASI_IDENTIFIER)
        names = tuple(a.name for a in self.recipe.attributes if a.role is not Role.ITEMS)
        counting = PartitionedColumnCounts(names, self.most, first)
        traits = TextTraits(a.name for a in self.recipe.attributes if not a.is_numeric)
        stream.load(before, (*after, counting, traits))
        together = None if counting.together is None else NarrowCounts.of(counting.together)
        figures = (stream.rows_read, stream.row_count, stream.longest, stream.zoned)
        return _Loaded(before, after, *figures, counting.counts, together, traits)


def _pieces(source: Source) -> list[SourcePiece]:
    source = _absolute(source)
    if isinstance(source, SplittableSource):
        return list(source.pieces(FRAGMENT_ROWS))
    return [WholePiece(source)]


def _absolute(source: Source) -> Source:
    """Return the source under an absolute path, by which the executors find it."""
    if isinstance(source, ManyFiles):
        return source.absolute()
    path = getattr(source, "path", None)
    if isinstance(path, Path) and not path.is_absolute():
        source = copy(source)
        source.path = path.absolute()  # type: ignore[attr-defined]  # it has one
    return source


def _numbered(pieces: Sequence[SourcePiece], rows: Sequence[int]) -> Iterator[Fragment]:
    first = in_file = 0
    for piece, number in zip(pieces, rows, strict=True):
        in_file = 0 if piece.begins else in_file
        yield Fragment(piece.starting_at(in_file), first, number)
        first += number
        in_file += number


def _rows_of(piece: SourcePiece) -> int:
    return sum(batch.num_rows for batch in piece.starting_at(0).batches([]))


def _explain(pieces: Sequence[SourcePiece]) -> None:
    """Read the pieces in their order until one fails, for an error that counts from the first row of the file."""
    in_file = 0
    for piece in pieces:
        in_file = 0 if piece.begins else in_file
        in_file += sum(batch.num_rows for batch in piece.starting_at(in_file).batches([]))


def _of_texts(work: Callable[[Texts], Result], names: tuple[str, ...], part: StreamPart) -> Result:
    return work(texts_of_part(names, part))


# Counts that are taken while a source is read: of columns of few values, each by itself and some together.


_MOST_WIDER = 1 << 15
"""Combinations that there may be of columns that are counted besides: Spark counts over 65,536 half as fast."""


def product(columns: Iterable[str], sizes: Mapping[str, int]) -> int:
    """Return how many combinations there may be of columns, of which any cell may be missing besides."""
    return math.prod(sizes[name] + 1 for name in columns)


def widened(columns: frozenset[str], sizes: Mapping[str, int]) -> frozenset[str] | None:
    """Return the columns and all that can be counted with them at little cost; None where one has many values.

    ``sizes`` are the numbers of values of those that have few.
    """
    if not columns <= sizes.keys():
        return None
    wider, combinations = set(columns), product(columns, sizes)
    for name in sorted(sizes.keys() - columns, key=lambda name: (sizes[name], name)):
        combinations *= sizes[name] + 1
        if combinations > _MOST_WIDER:
            break
        wider.add(name)
    return frozenset(wider)


class PartitionedColumnCounts:
    """Counts the values of each column as partitions pass; None for a column of more than ``most`` values.

    ``together``: the columns ``first`` and those that add few combinations to theirs, as the first partition has them;
    None where there are more than a few.
    """

    def __init__(self, names: Sequence[str], most: int, first: frozenset[str] = frozenset()) -> None:
        self.counts: dict[str, Counts | None] = {n: count(Table.of({n: []}), [n]) for n in names}
        self.together: Counts | None = None
        self._names: tuple[str, ...] | None = None if first else ()
        self._first = first
        self._most = most

    def look(self, table: Table) -> None:
        """Take in a partition."""
        for name, so_far in self.counts.items():
            if so_far is not None and name in table.columns:
                column = table[name]  # its categories are those that occur
                few = isinstance(column, NumericColumn) or len(column.categories) <= self._most
                merged = merge([so_far, count(table, [name])]) if few else None
                self.counts[name] = merged if merged is not None and len(merged) <= self._most else None
        if self._names is None and len(table):
            self._names = self._chosen()
        if self._names:
            counts = count(table, self._names)
            self.together = counts if self.together is None else merge([self.together, counts])
            if len(self.together) > _MOST_WIDER:  # later partitions have other values
                self.together, self._names = None, ()

    def add(self, later: PartitionedColumnCounts) -> None:
        """Take in what another one counted."""
        for name, counts in later.counts.items():
            so_far = self.counts[name]
            self.counts[name] = None if so_far is None or counts is None else merge([so_far, counts])
        gathered = GatheredCounts()
        for each in (self, later):
            gathered.take({}, each.together)
        self.together = next(iter(gathered.together()), None)

    def _chosen(self) -> tuple[str, ...]:
        """Return the columns to count together, in the order of the table; none where there may be many."""
        sizes = {name: len(each) for name, each in self.counts.items() if each is not None}
        if not self._first <= sizes.keys() or product(self._first, sizes) > _MOST_WIDER:
            return ()
        wider = widened(self._first, sizes) or frozenset()
        return tuple(name for name in self.counts if name in wider)


class GatheredCounts:
    """The counts of all fragments, by column; those of a column with too many values are let go."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Counts] | None] = {}
        self._together: list[Counts | None] = []

    def take(self, counts: Mapping[str, Counts | None], together: Counts | None) -> None:
        """Take in what was counted in a fragment."""
        self._together.append(together)
        for name, each in counts.items():
            parts = self._parts.setdefault(name, [])
            if each is None:
                self._parts[name] = None
            elif parts is not None:
                parts.append(each)

    def counts(self) -> Mapping[str, Counts]:
        """Return the counts of single columns."""
        return {name: merge(parts) for name, parts in self._parts.items() if parts}

    def together(self) -> list[Counts]:
        """Return the counts of columns together, if all fragments have counted them."""
        every = [counts for counts in self._together if counts is not None]
        if not every or len(every) < len(self._together):
            return []
        common = [name for name in every[0].columns if all(name in each.columns for each in every)]
        return [merge(each.project(common) for each in every)] if common else []
