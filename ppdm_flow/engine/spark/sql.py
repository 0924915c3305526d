"""The second route on a cluster: Spark does the grouping over the written files, and DuckDB does the rest.

A query of the audits is DuckDB's. Its innermost groupings that read one relation of rows and nothing else are
translated (sqlglot) and asked of Spark, which reads a release's files by its own readers. Their results, one row a
combination, come to the driver and replace the grouping in the query. A relation whose columns have few combinations
comes as these combinations with their numbers of rows, and the query groups them further. Relations that are not
grouped come to the driver row by row, as long as it has room for them.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.texts import quoted as identifier
from ppdm_flow.engine.seam import SecondRoute
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.source import SparkSource, product, widened
from ppdm_flow.engine.spark.stream import Fragment, Recipe, SparkStream, require_bytes, require_room
from ppdm_flow.engine.spark.tallies import ALIKE, SparkPairs, TallyWork, of_tallies
from ppdm_flow.engine.streams.coding import arrow, arrow_codes
from ppdm_flow.engine.streams.stream import ReadBack, Stream, check_room
from ppdm_flow.plan.cluster.steps import IN_PARTS
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.audit import sibling
from ppdm_flow.sdk.paired_relation import PairedRelation

if TYPE_CHECKING:
    from sqlglot.expressions import Expr, Select

Frame = Callable[[frozenset[str]], Any]
"""Makes a DataFrame with these columns."""
_KEPT = 1 << 28
"""Bytes of results that one audit keeps: its queries ask for the same groups."""


@dataclass(frozen=True, slots=True)
class PairedFrame:
    """Rows beside their originals as a DataFrame: two relations of one name are the same only with the same columns."""

    pairs: SparkPairs
    relation: PairedRelation

    def __call__(self, _columns: frozenset[str]) -> Any:
        """Return the DataFrame, with all columns."""
        return self.pairs.frame(self.relation)

    def tallied(self, columns: frozenset[str]) -> Any:
        """Return the combinations of these columns, counted by fragment."""
        return self.pairs.tallied(self.relation, columns)


class SparkSql:
    """SQL over one release; ``local`` is DuckDB on the driver."""

    def __init__(
        self,
        local: SecondRoute,
        farm: Farm,
        release: ReleaseNode,
        place: Path | None,
        original: Stream,
        candidate: ReadBack,
        siblings: Mapping[str, Stream],
        shared: CombinationsOfStreams | None = None,
    ) -> None:
        self._local = local
        self._farm = farm
        self._who = f"the second route of an audit of release `{release.name}`"
        self._frames: dict[str, Frame] = {}
        self._combinations: dict[str, CombinationCounts] = {}
        self._shared = CombinationsOfStreams() if shared is None else shared
        streams = {"original": original, **{sibling(name): each for name, each in siblings.items()}}
        self._streams: Mapping[str, Stream] = streams if place is not None else {**streams, "candidate": candidate}
        for name, stream in streams.items():
            if isinstance(stream, SparkStream) and _has_cells_only(stream):
                self._framed(name, stream, TextsFrame(stream))
        if isinstance(candidate, SparkStream) and place is not None and _has_cells_only(candidate):
            self._framed("candidate", candidate, released_frame(farm, release, place, candidate))
        self._answers: dict[tuple[str, PairedFrame | None], pa.Table] = {}
        limits = (s.limit for s in (original, candidate) if isinstance(s, SparkStream))
        self._limit = next((limit for limit in limits if limit is not None), None)
        self._kept_bytes = 0

    def _framed(self, name: str, stream: SparkStream, frame: Frame) -> None:
        self._frames[name] = frame
        if isinstance(stream, SparkSource):  # how many values its columns have is known
            self._combinations[name] = self._shared.of(stream, frame)

    def rows(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> list[tuple[Any, ...]]:
        """Return the result of one SELECT. Raises RunError."""
        text, relations = self._grouped(query, tables)
        return self._local.rows(text, parameters, relations)

    def table(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> Any:
        """Return the same as an Arrow table. Raises RunError."""
        text, relations = self._grouped(query, tables)
        return self._local.table(text, parameters, relations)

    def database(self) -> Any:
        """Return a database of DuckDB on the driver."""
        return self._local.database()

    def close(self) -> None:
        """Give everything back."""
        self._answers.clear()
        self._local.close()

    def _grouped(self, query: str, tables: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the query over what Spark grouped, and the relations that it reads."""
        import sqlglot  # noqa: PLC0415  # heavy, and only a run on Spark needs it

        frames, relations = dict(self._frames), dict(tables)
        for name, relation in tables.items():
            frames.pop(name, None)  # it hides what has its name
            pairs = relation.pairs if isinstance(relation, PairedRelation) else None
            if isinstance(relation, PairedRelation) and isinstance(pairs, SparkPairs):
                frames[name] = PairedFrame(pairs, relation)
        try:
            tree = sqlglot.parse_one(parsable(query), dialect="duckdb")
        except sqlglot.errors.SqlglotError:
            self._check_streams(name for name in self._streams if name in query)
            return query, {name: self._brought(relation) for name, relation in relations.items()}
        replaced = False
        for select in list(groupings(tree, frames)):
            name = f"grouped{len(relations)}"
            instead = self._instead(select, frames, name)
            if instead is not None:
                stand_in, relations[name] = instead
                tree = stand_in if select is tree else tree
                select.replace(stand_in)
                replaced = True
        text = tree.sql(dialect="duckdb") if replaced else query
        read = {table.name for table in tree.find_all(sqlglot.exp.Table)}
        self._check_streams(read - relations.keys() - {cte.alias for cte in tree.find_all(sqlglot.exp.CTE)})
        return text, {name: self._brought(relation) for name, relation in relations.items() if name in read}

    def _instead(self, select: Select, frames: Mapping[str, Frame], name: str) -> tuple[Select, pa.Table] | None:
        """Return what stands in the place of a grouping, and the relation ``name`` of Spark's answer that it reads."""
        import sqlglot  # noqa: PLC0415  # heavy

        tallied, alike = self._alike(select, frames)
        if tallied is not None and alike is not None:
            return reading(tallied, base_of(select, frames), name), alike
        every, left_out = without_filter(select)
        answer = self._ask_spark(every, frames)
        if answer is None:
            return None
        stand_in = sqlglot.select("*").from_(sqlglot.exp.to_table(name))
        return (stand_in if left_out is None else stand_in.where(left_out)), answer

    def _alike(self, select: Select, frames: Mapping[str, Frame]) -> tuple[Select | None, pa.Table | None]:
        """Return a grouping as one of combinations, and those that Spark counted; None where it did not."""
        base = base_of(select, frames)
        combinations = None if base is None else self._combinations.get(base)
        if base is None or combinations is None or frames[base] is not self._frames[base]:
            return None, None
        tallied = of_tallies(select)
        return tallied, None if tallied is None else combinations.of(frames[base], columns_of(select))

    def _check_streams(self, names: Iterable[str]) -> None:
        """Raise RunError where rows that a query reads are more than the driver has room for."""
        for name in names:
            stream = self._streams.get(name)
            if stream is not None:
                check_room(stream, len(stream.attributes), self._who)

    def _brought(self, relation: Any) -> Any:
        """Return a relation as a table where its rows are elsewhere. Raises RunError where there is no room for it."""
        limit = self._limit
        if not (isinstance(relation, PairedRelation) and isinstance(relation.pairs, SparkPairs)) or limit is None:
            return relation
        key = ("", PairedFrame(relation.pairs, relation))
        if key not in self._answers:
            require_room(relation.pairs.most_rows, len(relation.schema), limit, self._who)
            table = relation.gathered(lambda nbytes: require_bytes(nbytes, limit, self._who))
            if self._kept_bytes + table.nbytes > max(_KEPT, limit):
                return table
            self._kept_bytes += table.nbytes
            self._answers[key] = table
        return self._answers[key]

    def _ask_spark(self, select: Select, frames: Mapping[str, Frame]) -> pa.Table | None:
        """Return what Spark makes of a grouping; None where Spark cannot be asked in its own words."""
        base = base_of(select, frames)
        if base is None:
            return None
        frame = frames[base]
        key = (select.sql(dialect="duckdb"), frame if isinstance(frame, PairedFrame) else None)
        if key in self._answers:
            return self._answers[key]
        columns, of_rows = columns_of(select), frame
        if isinstance(frame, TextsFrame | PairedFrame):  # Spark reads all others by itself
            tallied = of_tallies(select)
            if tallied is not None:
                select, of_rows = tallied, frame.tallied
        view = f"ppdm_flow_{uuid.uuid4().hex}"
        translated = in_spark(select, base, view)
        if translated is None:
            return None
        answer = self._farm.query(of_rows(columns), view, translated)
        if self._kept_bytes + answer.nbytes <= _KEPT:
            self._kept_bytes += answer.nbytes
            self._answers[key] = answer
        return answer


def _has_cells_only(stream: Stream) -> bool:
    """Whether no column holds sets, which have no text."""
    return all(fact.role is not Role.ITEMS for fact in stream.attributes)


# Rows of a relation that are alike, counted by Spark once for all queries that group them, where they are few.


MOST = 1 << 18
"""Combinations that there may be, by the values of each column, for a relation to be counted so."""


class CombinationCounts:
    """Counts the rows of a relation that are alike; ``sizes`` are the numbers of values of columns that have few.

    Columns that were not asked for are counted besides as long as there cannot be many combinations: the next query
    asks for some of them.
    """

    def __init__(self, farm: Farm, sizes: Mapping[str, int]) -> None:
        self._farm = farm
        self._sizes = sizes
        self._counted: list[tuple[frozenset[str], pa.Table]] = []
        self._lock = threading.Lock()

    def of(self, frame: Frame, columns: frozenset[str]) -> pa.Table | None:
        """Return the combinations of these columns and maybe more, with :data:`ALIKE`; None where they may be many."""
        wider = widened(columns, self._sizes)
        if not wider or product(columns, self._sizes) > MOST:
            return None
        with self._lock:
            table = next((table for names, table in self._counted if columns <= names), None)
            if table is None:
                table = self._count(frame, wider)
                self._counted.append((wider, table))
            return table

    def _count(self, frame: Frame, columns: frozenset[str]) -> pa.Table:
        if isinstance(frame, TextsFrame):
            rows, times = frame.tallied(columns), f"sum({ALIKE})"
        else:
            rows, times = frame(columns), "count(*)"
        view, names = f"ppdm_flow_{uuid.uuid4().hex}", ", ".join(map(quoted, sorted(columns)))
        text = f"SELECT {names}, CAST({times} AS BIGINT) AS {ALIKE} FROM {view} GROUP BY {names}"  # noqa: S608  # quoted
        return self._farm.query(rows, view, text)


class CombinationsOfStreams:
    """The combinations of each stream, for all audits of a run, as long as there is the stream: no frame is kept."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[SparkStream, dict[bool, CombinationCounts]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, stream: SparkSource, frame: Frame) -> CombinationCounts:
        """Return those of a stream, by a frame of our own reader's or by one of Spark's."""
        with self._lock:
            own, kind = self._known.setdefault(stream, {}), isinstance(frame, TextsFrame)
            if kind not in own:
                own[kind] = CombinationCounts(stream.farm, _few_values(stream))
            return own[kind]


def _few_values(stream: SparkSource) -> Mapping[str, int]:
    """Return how many values those columns have that were counted, without names that SQL takes for one."""
    names = [a.name for a in stream.attributes]
    spelled = [ALIKE, *(name.lower() for name in names)]
    counted = stream.columns_at_hand([name for name in names if spelled.count(name.lower()) == 1])
    return {name: len(stream.counts([name], None)) for name in names if name in counted}


# Relations of the second route as DataFrames: released files by Spark's own readers, all else by ours.


_EMPTY = "\ue000empty"
"""What an empty text is read as: Spark's reader of CSV tells it from a missing value only by another text."""
_GLOB = frozenset("*?[]{}\\,%#")


@dataclass(frozen=True, slots=True)
class TextsFrame:
    """Makes DataFrames of a stream's columns, as our own reader has them."""

    stream: SparkStream

    def __call__(self, columns: frozenset[str]) -> Any:
        """Return the rows with these columns."""
        names, schema = self._chosen(columns)
        work = _TextsWork(self.stream.recipe, names, coded=False)
        return self.stream.farm.frame(work, self.stream.fragments, ", ".join(schema))

    def tallied(self, columns: frozenset[str]) -> Any:
        """Return the combinations of these columns, counted by fragment."""
        names, schema = self._chosen(columns)
        work = TallyWork(_TextsWork(self.stream.recipe, names, coded=True), names)
        return self.stream.farm.frame(work, self.stream.fragments, ", ".join([*schema, f"{ALIKE} long"]))

    def _chosen(self, columns: frozenset[str]) -> tuple[tuple[str, ...], list[str]]:
        every = tuple(a.name for a in self.stream.attributes)
        names = tuple(name for name in every if name in columns) or every[:1]
        return names, [f"{quoted(name)} string" for name in names]


@dataclass(frozen=True, slots=True)
class _TextsWork:
    recipe: Recipe
    names: tuple[str, ...]
    coded: bool

    def __call__(self, fragment: Fragment) -> Iterator[pa.RecordBatch]:
        for part in self.recipe.of(fragment).parts(self.names):
            if self.coded:
                cells = [arrow_codes(part.table[name]) for name in self.names]
            else:
                cells = [arrow(part.table[name]).cast(pa.string()) for name in self.names]
            yield pa.RecordBatch.from_arrays(cells, names=list(self.names))


def released_frame(farm: Farm, release: ReleaseNode, place: Path, stream: SparkStream) -> Frame:
    """Return what makes a DataFrame of a release, as Spark reads its files; by our reader where it would interpret."""
    readable = not _GLOB & set(str(place.absolute())) and all(_is_plain(release, a) for a in release.attributes)
    if not readable or release.partition_by or release.collapse or release.format not in IN_PARTS:
        return TextsFrame(stream)
    if release.format == "csv" and (len(release.attributes) == 1 or release.options.get("formulas") == "escape"):
        return TextsFrame(stream)
    return lambda _columns: _read(farm, release, place)


def _is_plain(release: ReleaseNode, facts: Any) -> bool:
    """Whether Spark has the same text of each cell: not of sets, nor of floating point numbers in Parquet."""
    if facts.role is Role.ITEMS:
        return False
    return release.format == "csv" or not facts.is_numeric or facts.type is not AttributeType.FLOAT


def _read(farm: Farm, release: ReleaseNode, place: Path) -> Any:
    address = f"file://{place.absolute()}"
    if release.format == "parquet":
        return farm.files("parquet", address, None, {}, [_as_text(a) for a in release.attributes])
    schema = ", ".join(f"{quoted(name)} string" for name in release.columns)
    options = {
        "header": "true",
        "sep": str(release.options.get("delimiter", ",")),
        "quote": '"',
        "escape": '"',
        "multiLine": "true",
        "nullValue": "",
        "emptyValue": _EMPTY,
        "mode": "FAILFAST",
        "maxCharsPerColumn": "-1",
        "maxColumns": str(max(20480, len(release.columns))),
    }
    cells = [f"CASE WHEN {quoted(n)} = '{_EMPTY}' THEN '' ELSE {quoted(n)} END AS {quoted(n)}" for n in release.columns]
    return farm.files("csv", address, schema, options, cells)


def _as_text(facts: Any) -> str:
    name = quoted(facts.name)
    if not facts.is_numeric:
        return name
    text = f"CAST({name} AS STRING)"
    return f"replace({text}, ' ', 'T') AS {name}" if facts.type is AttributeType.TIMESTAMP else f"{text} AS {name}"


def quoted(name: str) -> str:
    """Return an identifier of Spark's SQL."""
    return identifier(name, "`")


# Queries of the audits, taken apart: what in them groups one relation and nothing else, and that in Spark's words.


_CAST = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\?::(\w+(?:\[\])?)""")


def parsable(query: str) -> str:
    """Return a query with casts of parameters (``?::VARCHAR[]``) in the words that sqlglot reads, too."""
    return _CAST.sub(lambda match: f"CAST(? AS {match[1]})" if match[1] else match[0], query)


def groupings(tree: Expr, frames: Container[str]) -> Iterator[Select]:
    """Yield the innermost groupings that read one of ``frames`` and nothing else: several queries share these."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    hidden = {cte.alias for cte in tree.find_all(exp.CTE)}
    known = {table.name for table in tree.find_all(exp.Table) if table.name in frames} - hidden
    selects = [each for each in tree.find_all(exp.Select) if _is_grouping(each) and base_of(each, known) is not None]
    for select in selects:
        if not any(each is not select and each in selects for each in select.find_all(exp.Select)):
            yield select


def without_filter(select: Select) -> tuple[Select, Expr | None]:
    """Return a grouping without its WHERE, and that as a filter of its rows, where it is about what is grouped by.

    Several queries differ in such a filter alone, and share the groups then.
    """
    from sqlglot import exp  # noqa: PLC0415  # heavy

    where, group = select.args.get("where"), select.args.get("group")
    source = select.find(exp.From)
    if where is None or group is None or source is None or not isinstance(source.this, exp.Table):
        return select, None
    named = {}
    for key in group.expressions:
        number = int(key.this) - 1 if isinstance(key, exp.Literal) and key.is_int else None
        column = select.expressions[number] if number is not None and number < len(select.expressions) else None
        if isinstance(column, exp.Alias) and isinstance(column.this, exp.Column):
            named[column.this.name] = column.alias
    if any(column.name not in named for column in where.find_all(exp.Column)):
        return select, None
    every, condition = select.copy(), where.this.copy()
    every.set("where", None)
    for column in list(condition.find_all(exp.Column)):
        column.replace(exp.column(named[column.name], quoted=True))
    return every, condition


def base_of(select: Expr, frames: Container[str]) -> str | None:
    """Return the relation that a SELECT without joins reads, directly or through another such; None for any other."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    refused = (exp.Join, exp.Window, exp.Order, exp.Limit, exp.Placeholder, exp.With, exp.SetOperation, exp.Distinct)
    if not isinstance(select, exp.Select) or any(select.find_all(*refused)):
        return None
    tables = list(select.find_all(exp.Table))
    selects = list(select.find_all(exp.Select))
    if len(tables) != 1 or any(not each.find(exp.From) for each in selects):
        return None
    name = tables[0].name
    nested = all(isinstance(each.parent and each.parent.parent, exp.From) for each in selects if each is not select)
    return name if name in frames and nested else None


def _is_grouping(select: Select) -> bool:
    """Whether a SELECT has one row for each group, or one at all."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    if select.args.get("group") is not None:
        return True
    return all(any(each.find_all(exp.AggFunc)) for each in select.expressions)


def columns_of(select: Select) -> frozenset[str]:
    """Return the columns of the relation that a grouping may read."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    return frozenset(column.name for column in select.find_all(exp.Column))


def in_spark(select: Select, base: str, view: str) -> str | None:
    """Return the grouping in Spark's words, of ``view`` in the place of the relation; None where it has none."""
    import sqlglot  # noqa: PLC0415  # heavy
    from sqlglot import exp  # noqa: PLC0415  # the same

    copied = reading(select, base, view)
    for number, each in enumerate(copied.expressions):
        if not each.alias_or_name:
            each.replace(exp.alias_(each.copy(), f"_col_{number}"))
    try:
        return copied.sql(dialect="spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
    except sqlglot.errors.SqlglotError:
        return None


def reading(select: Select, base: str | None, view: str) -> Select:
    """Return the query, of the relation ``view`` in the place of ``base``."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    copied = select.copy()
    for table in copied.find_all(exp.Table):
        if table.name == base:
            table.set("this", exp.to_identifier(view))
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(base, quoted=True)))
    return copied
