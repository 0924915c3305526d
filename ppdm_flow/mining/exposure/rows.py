"""Released rows for counting, by two routes: by their cells, and by what they were in the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ppdm_flow.mining.exposure.paired import paired_counts, relation
from ppdm_flow.mining.releases.attributes import all_known, classes, remembered
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.paired_relation import names_of
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True)
class CombinationQuery:
    """``text`` is a SELECT of the distinct combinations c0, c1, … with their rows ``n``, over ``tables``.

    ``single`` is the same row by row, for what adds up fewer columns; empty where only combinations can be had.
    """

    text: str
    tables: Mapping[str, Any] = field(default_factory=dict)
    single: str = ""


class CountedRows(Protocol):
    """Rows to be counted."""

    def counts(self, released: Sequence[str], original: Sequence[str] = ()) -> Counts:
        """Count the combinations of these released columns and, after them, of these attributes of the source."""
        ...

    def relation(
        self, released: Sequence[str], original: Sequence[str] = (), known: Sequence[str] = ()
    ) -> CombinationQuery | None:
        """Return the same for SQL, without rows that miss one of ``known``; None without a database."""
        ...


@dataclass(frozen=True, slots=True)
class ReleasedRows:
    """Rows of the released file; the run's other releases are ignored."""

    candidate: DataView
    ctx: AuditContext

    def counts(self, released: Sequence[str], original: Sequence[str] = ()) -> Counts:
        """Count in the file; beside originals, over the rows that went into it."""
        if not original:
            return self.candidate.counts(list(dict.fromkeys(released))).project(released)
        return paired_counts(self.candidate, _pairs(self.ctx, original), released, original)

    def relation(
        self, released: Sequence[str], original: Sequence[str] = (), known: Sequence[str] = ()
    ) -> CombinationQuery | None:
        """Group in SQL."""
        if self.ctx.sql is None:
            return None
        schema = self.candidate.schema
        if not original:
            grouped = classes("candidate", released, schema)
            text, tables = remembered(self.ctx.sql, grouped, lambda: len(self.counts(released)))
            if not tables or not set(known) <= set(released):  # groups have no cell of other columns
                return CombinationQuery(classes("candidate", released, schema, all_known(known)))
            there = " AND ".join(f"c{i} IS NOT NULL" for i, c in enumerate(released) if c in known)
            return CombinationQuery(f"SELECT * FROM ({text}){f' WHERE {there}' if there else ''}", tables)  # noqa: S608  # our own names
        table = relation(_pairs(self.ctx, original), released, original, schema.weight)
        return CombinationQuery(
            _grouped(released, original, known), {"paired": table}, _single(released, original, known)
        )


def _pairs(ctx: AuditContext, original: Sequence[str]) -> PairedView:
    only_subjects = ctx.people is not None and set(original) == {ctx.people.subject}
    pairs = ctx.owners if only_subjects else ctx.pairs
    if pairs is None:
        raise ValueError("released rows cannot be paired with their originals here")
    return pairs


def _grouped(released: Sequence[str], original: Sequence[str], known: Sequence[str]) -> str:
    places = [f"c{i}" for i in range(len(released) + len(original))]
    single = _single(released, original, known)
    return f"SELECT {', '.join(places)}, SUM(n) AS n FROM ({single}) GROUP BY {', '.join(places)}"  # noqa: S608  # our own names


def _single(released: Sequence[str], original: Sequence[str], known: Sequence[str]) -> str:
    named = ", ".join(f"{name} AS c{i}" for i, name in enumerate(names_of(released, original)))
    there = [f"r{i} IS NOT NULL" for i, c in enumerate(released) if c in known]
    return f"SELECT {named}, n FROM paired WHERE {' AND '.join(['n > 0', *there])}"  # noqa: S608  # our own names


@dataclass(slots=True)
class SharedCounts:
    """The ``rows``, of which nothing but these ``released`` and ``original`` columns will be asked for."""

    rows: CountedRows
    released: Sequence[str]
    original: Sequence[str]
    _counts: Counts | None = field(default=None, init=False)
    _relation: CombinationQuery | None = field(default=None, init=False)

    def counts(self, released: Sequence[str], original: Sequence[str] = ()) -> Counts:
        """Add up over the other columns."""
        if self._counts is None:
            self._counts = self.rows.counts(self.released, self.original)
        every = self._counts
        named = Counts(tuple(map(str, range(len(every.columns)))), every.categories, every.codes, every.counts)
        return named.project([str(p) for p in self._places(released, original)])

    def relation(
        self, released: Sequence[str], original: Sequence[str] = (), known: Sequence[str] = ()
    ) -> CombinationQuery | None:
        """Group the relation over all columns again."""
        if self._relation is None:
            self._relation = self.rows.relation(self.released, self.original)
        every = self._relation
        if every is None:
            return None
        places = self._places(released, original)
        named = "".join(f"c{p} AS d{i}, " for i, p in enumerate(places))
        needed = (list(self.released).index(c) for c in known)
        where = " AND ".join(f"c{p} IS NOT NULL" for p in needed)
        kept = f" WHERE {where}" if where else ""
        grouped = f" GROUP BY {', '.join(f'd{i}' for i in range(len(places)))}" if places else " HAVING COUNT(*) > 0"
        renamed = "".join(f"d{i} AS c{i}, " for i in range(len(places)))
        text = f"SELECT {named}n FROM ({every.text}){kept}"  # noqa: S608  # our own names
        keys = "".join(f"d{i}, " for i in range(len(places)))
        summed = f"SELECT {renamed}n FROM (SELECT {keys}SUM(n) AS n FROM ({text}){grouped})"  # noqa: S608  # as above
        return CombinationQuery(summed, every.tables)

    def _places(self, released: Sequence[str], original: Sequence[str]) -> list[int]:
        own, others = list(self.released), list(self.original)
        return [*map(own.index, released), *(len(own) + others.index(a) for a in original)]
