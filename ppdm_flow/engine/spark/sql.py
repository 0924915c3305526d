"""The second route on a cluster: what a query groups is grouped by Spark, over the written files; DuckDB does the rest.

A query of the audits is DuckDB's. The innermost groupings in it that read one relation of rows and nothing else are
translated (sqlglot) and asked of Spark, which reads a release's files by its own readers; their results, one row a
combination, come to the driver and stand in the query in the place of what was asked. Of a relation whose columns have
few combinations these come, with how many rows each stands for, and the query groups them further. Relations that are
not grouped come to the driver row by row, as long as it has room for them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.seam import SecondRoute
from ppdm_flow.engine.spark.combinations import CombinationCounts, CombinationsOfStreams
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.frames import TextsFrame, released_frame
from ppdm_flow.engine.spark.limits import require_bytes, require_room
from ppdm_flow.engine.spark.pairs import SparkPairs
from ppdm_flow.engine.spark.queries import (
    base_of,
    columns_of,
    groupings,
    in_spark,
    parsable,
    reading,
    without_filter,
)
from ppdm_flow.engine.spark.source import SparkSource
from ppdm_flow.engine.spark.stream import SparkStream
from ppdm_flow.engine.spark.tallies import of_tallies
from ppdm_flow.engine.streams.stream import ReadBack, Stream, check_room
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.audit import sibling
from ppdm_flow.sdk.paired_relation import PairedRelation

if TYPE_CHECKING:
    from sqlglot.expressions import Select

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
        self._held = 0

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
        asked = False
        for select in list(groupings(tree, frames)):
            name = f"grouped{len(relations)}"
            instead = self._instead(select, frames, name)
            if instead is not None:
                stand_in, relations[name] = instead
                tree = stand_in if select is tree else tree
                select.replace(stand_in)
                asked = True
        text = tree.sql(dialect="duckdb") if asked else query
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
        answer = self._asked(every, frames)
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
            table = relation.gathered(lambda held: require_bytes(held, limit, self._who))
            if self._held + table.nbytes > max(_KEPT, limit):
                return table
            self._held += table.nbytes
            self._answers[key] = table
        return self._answers[key]

    def _asked(self, select: Select, frames: Mapping[str, Frame]) -> pa.Table | None:
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
        answer = self._farm.asked(of_rows(columns), view, translated)
        if self._held + answer.nbytes <= _KEPT:
            self._held += answer.nbytes
            self._answers[key] = answer
        return answer


def _has_cells_only(stream: Stream) -> bool:
    """Whether no column holds sets, which have no text."""
    return all(fact.role is not Role.ITEMS for fact in stream.attributes)
