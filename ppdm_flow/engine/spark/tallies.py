"""Counts equal rows on the executors, so that Spark groups one row a combination.

Only aggregates that can be computed from combinations and their counts are rewritten; for all others Spark gets every
row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.texts import quoted
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.stream import Fragment, PairCountsWork, Recipe, SparkStream, fragment_pairs
from ppdm_flow.engine.spark.stream import counted as stream_counted
from ppdm_flow.engine.streams.narrow import NarrowTable
from ppdm_flow.engine.streams.stream import StreamPairs
from ppdm_flow.sdk.databases.duckdb import NO_FILES, Setting
from ppdm_flow.sdk.paired_relation import PairedRelation
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table

if TYPE_CHECKING:
    from sqlglot.expressions import Expr, Select

ALIKE = "rows_alike"
"""Column with the number of rows of a combination."""
_MOST = 1 << 21
"""Combinations that are held at once, to be added up."""
_PAYS = 0.8
"""Fragments have combinations in common where those of two are fewer than this share of their sum."""
_CLOSED: dict[str, Setting] = {
    **NO_FILES,
    "python_enable_replacements": "false",
    "temp_directory": "",
    "threads": "1",
    "preserve_insertion_order": "false",
}


@dataclass(frozen=True, slots=True)
class TallyWork:
    """Counts the rows of a fragment that are alike in ``names``, by DuckDB: the second route, not our own counting."""

    rows: Callable[[Fragment], Iterator[pa.RecordBatch]]
    names: tuple[str, ...]

    def __call__(self, fragment: Fragment) -> Iterator[pa.RecordBatch]:
        """Yield the combinations of the fragment's rows."""
        yield from self.together([fragment])

    def together(self, fragments: Iterable[Fragment]) -> Iterator[pa.RecordBatch]:
        """Yield the combinations of some fragments, added up where that makes fewer."""
        texts = _Texts()
        with duckdb.connect(":memory:", config=_CLOSED) as opened:
            for counted in self._added_up(opened, fragments, texts):
                yield from texts.of(counted).to_batches()

    def _added_up(
        self, opened: duckdb.DuckDBPyConnection, fragments: Iterable[Fragment], texts: _Texts
    ) -> Iterator[pa.Table]:
        tallied: pa.Table | None = None
        pays = True
        for fragment in fragments:
            batches = [texts.coded(batch.select(list(self.names))) for batch in self.rows(fragment)]
            if not batches:
                continue
            counted = self._grouped(opened, pa.Table.from_batches(batches), "count(*)")
            if tallied is not None and pays:
                added = self._grouped(opened, pa.concat_tables([tallied, counted]), f'sum("{ALIKE}")')
                pays = added.num_rows < _PAYS * (tallied.num_rows + counted.num_rows)
                if pays and added.num_rows <= _MOST:
                    tallied = added
                    continue
            if tallied is not None:
                yield tallied
            tallied = counted
        if tallied is not None:
            yield tallied

    def _grouped(self, opened: duckdb.DuckDBPyConnection, part: pa.Table, times: str) -> pa.Table:
        names = ", ".join(map(quoted, self.names))
        opened.register("part", part)
        query = f'SELECT {names}, {times}::BIGINT AS "{ALIKE}" FROM part GROUP BY ALL'  # noqa: S608  # quoted
        table = opened.sql(query).to_arrow_table()
        opened.unregister("part")
        return table


class _Texts:
    """Gives each text of a column a number, the same in all batches: numbers are grouped faster than texts."""

    def __init__(self) -> None:
        self._known: dict[str, pa.StringArray] = {}

    def coded(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows with numbers in the place of texts; columns of numbers stay as they are."""
        return pa.RecordBatch.from_arrays(
            [self._coded(name, batch.column(name)) for name in batch.schema.names], names=batch.schema.names
        )

    def of(self, table: pa.Table) -> pa.Table:
        """Return the rows with their texts again."""
        columns = {name: table[name].combine_chunks() for name in table.column_names}
        return pa.table({name: self._texts(name, column) for name, column in columns.items()})

    def _coded(self, name: str, cells: pa.Array) -> pa.Array:
        if pa.types.is_string(cells.type):
            cells = cells.dictionary_encode()
        if not pa.types.is_dictionary(cells.type):
            return cells
        known = self._known.setdefault(name, pa.nulls(0, pa.string()))
        own = cells.dictionary.cast(pa.string())
        places = pc.index_in(own, value_set=known)
        if places.null_count:
            known = self._known[name] = pa.concat_arrays([known, own.filter(places.is_null())])
            places = pc.index_in(own, value_set=known)
        return places.take(cells.indices)

    def _texts(self, name: str, column: pa.Array) -> pa.Array:
        return self._known[name].take(column) if name in self._known else column


def of_tallies(select: Select) -> Select | None:
    """Return a grouping as one of combinations that occur :data:`ALIKE` times; None where it cannot be said so.

    It reads one relation directly, and adds up, counts, or takes the least or greatest.
    """
    from sqlglot import exp  # noqa: PLC0415  # heavy

    source = select.find(exp.From)
    if source is None or not isinstance(source.this, exp.Table) or len(list(select.find_all(exp.Select))) > 1:
        return None
    if any(column.name.lower() == ALIKE for column in select.find_all(exp.Column)):
        return None
    rewritten = select.copy()
    for aggregate in list(rewritten.find_all(exp.AggFunc)):
        filtered = aggregate.parent if isinstance(aggregate.parent, exp.Filter) else None
        instead = _of_tallies(aggregate, filtered)
        if instead is None:
            return None
        if instead is not aggregate:
            (aggregate if isinstance(instead, exp.Sum) or filtered is None else filtered).replace(instead)
    return rewritten


def _of_tallies(aggregate: Expr, filtered: Expr | None) -> Expr | None:
    """Return an aggregate over combinations, the same one where it is no matter how often each occurs, or None.

    A count stands in the place of its filter, if it has one.
    """
    from sqlglot import exp  # noqa: PLC0415  # heavy

    times = exp.column(ALIKE)
    if isinstance(aggregate, exp.Min | exp.Max):
        return aggregate
    if isinstance(aggregate, exp.Sum):
        return exp.Sum(this=exp.Mul(this=exp.paren(aggregate.this.copy()), expression=times))
    if isinstance(aggregate, exp.Count) and isinstance(aggregate.this, exp.Star):
        total: Expr = exp.Sum(this=times)
        if filtered is not None:
            total = exp.Filter(this=total, expression=filtered.expression.copy())
        many = exp.Coalesce(this=total, expressions=[exp.Literal.number(0)])
        return exp.cast(many, exp.DataType.Type.BIGINT)  # a sum is wider than a count
    return None


# Original and released rows side by side, where both are made of one fragment.


_REMEMBERED = 1 << 18
"""Combinations of counts that are kept: several audits ask for the same."""


@dataclass(frozen=True, slots=True)
class FragmentPairs:
    """The pairs of one fragment, by the recipes of both sides."""

    original: Recipe
    released: Recipe

    def of(self, fragment: Fragment) -> StreamPairs:
        """Return them."""
        return fragment_pairs(self.original, self.released, fragment)


@dataclass(frozen=True, slots=True)
class _PairsWork:
    pairs: FragmentPairs
    original: tuple[str, ...]
    released: tuple[str, ...]

    def __call__(self, fragment: Fragment) -> list[tuple[NarrowTable, NarrowTable]]:
        pairs = self.pairs.of(fragment).pairs(self.original, self.released)
        return [(NarrowTable.of(left), NarrowTable.of(right)) for left, right in pairs]


@dataclass(frozen=True, slots=True)
class _RelationWork:
    pairs: FragmentPairs
    relation: PairedRelation

    def __call__(self, fragment: Fragment) -> Iterator[pa.RecordBatch]:
        yield from self.relation.batches_of(self.pairs.of(fragment))


class SparkPairs:
    """A PairedView over two streams of one source."""

    def __init__(self, original: SparkStream, released: SparkStream) -> None:
        self._farm: Farm = original.farm
        self._fragments = original.fragments
        self._pairs = FragmentPairs(original.recipe, released.recipe)
        self._counts: dict[tuple[tuple[str, ...], tuple[str, ...], str | None], Counts] = {}
        self._lock = threading.Lock()

    @property
    def most_rows(self) -> int:
        """How many pairs there are at the most, where no row is written out several times."""
        return sum(fragment.rows for fragment in self._fragments)

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield aligned partitions, which come to the driver."""
        work = _PairsWork(self._pairs, tuple(original), tuple(released))
        for left, right in chain.from_iterable(self._farm.waves(work, self._fragments)):
            yield left.table(left.names), right.table(right.names)

    def joint(self, original: str, released: str) -> Counts:
        """Count (original value, released value) over all rows."""
        return self.counts([original], [released], ["original", "released"])

    def counts(
        self, original: Sequence[str], released: Sequence[str], names: Sequence[str], weight: str | None = None
    ) -> Counts:
        """Count the combinations of original values and released cells, under ``names``; ``weight`` is released."""
        columns = (tuple(original), tuple(released))
        key = (*columns, weight)
        with self._lock:
            known = self._counts.get(key)
        if known is not None:
            return replace(known, columns=tuple(names))
        work = PairCountsWork(self._pairs.original, self._pairs.released, columns, tuple(names), weight)
        counts = stream_counted(self._farm, work, self._fragments, tuple(names))
        with self._lock:
            if len(counts) <= _REMEMBERED:
                self._counts[key] = counts
        return counts

    def frame(self, relation: PairedRelation) -> object:
        """Return the rows of a relation of these pairs as a DataFrame."""
        return self._farm.frame(self._rows(relation), self._fragments, ", ".join(_kinds(relation)))

    def tallied(self, relation: PairedRelation, columns: frozenset[str]) -> object:
        """Return the combinations of these columns of a relation as a DataFrame, counted by fragment."""
        names = tuple(field.name for field in relation.schema if field.name in columns) or (relation.schema.names[0],)
        schema = [kind for name, kind in zip(relation.schema.names, _kinds(relation), strict=True) if name in names]
        work = TallyWork(self._rows(relation), names)
        return self._farm.frame(work, self._fragments, ", ".join([*schema, f"{ALIKE} long"]))

    def _rows(self, relation: PairedRelation) -> _RelationWork:
        unpaired = PairedRelation(NOTHING, relation.released, relation.original, relation.weight)
        return _RelationWork(self._pairs, unpaired)


def _kinds(relation: PairedRelation) -> list[str]:
    kinds = {pa.string(): "string", pa.int64(): "long"}
    return [f"{field.name} {kinds[field.type]}" for field in relation.schema]


class _Nothing:
    """No pairs: in the place of those that stay with the driver."""

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        raise NotImplementedError

    def joint(self, original: str, released: str) -> Counts:
        raise NotImplementedError


NOTHING = _Nothing()
