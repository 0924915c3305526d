"""Released rows for counting, by two routes: by their cells, and by what they were in the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ppdm_flow.mining.exposure.paired import paired_counts, relation
from ppdm_flow.mining.releases.attributes import all_known, classes, remembered
from ppdm_flow.mining.releases.successive import combinations, together
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.history import Membership
from ppdm_flow.sdk.paired_relation import names_of, paired_tables
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.table import Table

_OTHERS = "\0others"


@dataclass(frozen=True, slots=True)
class CombinationQuery:
    """``text`` is a SELECT of the distinct combinations c0, c1, … with their rows ``n``, over ``tables``.

    ``single`` is the same row by row, for what adds up fewer columns; empty where only combinations can be had.
    """

    text: str
    tables: Mapping[str, Any] = field(default_factory=dict)
    single: str = ""


class CountedRows(Protocol):
    """Rows to be counted. ``leading`` columns that form classes come before those that are asked for."""

    @property
    def leading(self) -> int:
        """How many further columns form classes."""
        ...

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
    leading: int = 0

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


@dataclass(frozen=True, slots=True)
class RowsWithOthers:
    """Rows with the classes of their people in the ``others``, as one more column that forms classes.

    They are those that went into the file, in the order of ``pairs``: the engine proves that the file holds just these.
    """

    own: Membership
    others: tuple[Membership, ...]
    pairs: PairedView
    ctx: AuditContext
    leading: int = 1

    def counts(self, released: Sequence[str], original: Sequence[str] = ()) -> Counts:
        """Count the combinations of these columns; what the other releases tell is the first."""
        known = combinations(self.own.subjects, self.others).astype(np.int32)
        names = pa.array([str(i) for i in range(int(known.max(initial=-1)) + 1)], pa.string())
        wanted = (_OTHERS, *names_of(released, original))
        parts = [count(Table.of({name: [] for name in wanted}), wanted)]
        for table, people in self._tables(released, original):
            parts.append(count(table.replaced({_OTHERS: Column(known[people], names)}), wanted))
        return merge(parts)

    def relation(
        self, released: Sequence[str], original: Sequence[str] = (), known: Sequence[str] = ()
    ) -> CombinationQuery | None:
        """Join rows to their people in SQL."""
        if self.ctx.sql is None:
            return None
        pairs_of_tables = list(self._tables(released, original))
        needed = [i + 1 for i, c in enumerate(released) if c in known]
        text, tables = together(pairs_of_tables, names_of(released, original), self.own, self.others, needed)
        return CombinationQuery(text, tables)

    def _tables(
        self, released: Sequence[str], original: Sequence[str]
    ) -> Iterator[tuple[Table, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
        """Yield partitions of the rows, and the place of each row's person."""
        start, places = 0, self.own.places
        for table in paired_tables(self.pairs, released, original, None):
            if places is not None:
                yield table, places[start : start + len(table)]
            start += len(table)
        if places is None or start != len(places):
            raise ValueError("the rows and their people do not fit")


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

    @property
    def leading(self) -> int:
        """How many further columns form classes."""
        return self.rows.leading

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
        needed = (self.leading + list(self.released).index(c) for c in known)
        where = " AND ".join(f"c{p} IS NOT NULL" for p in needed)
        kept = f" WHERE {where}" if where else ""
        grouped = f" GROUP BY {', '.join(f'd{i}' for i in range(len(places)))}" if places else " HAVING COUNT(*) > 0"
        renamed = "".join(f"d{i} AS c{i}, " for i in range(len(places)))
        text = f"SELECT {named}n FROM ({every.text}){kept}"  # noqa: S608  # our own names
        keys = "".join(f"d{i}, " for i in range(len(places)))
        summed = f"SELECT {renamed}n FROM (SELECT {keys}SUM(n) AS n FROM ({text}){grouped})"  # noqa: S608  # as above
        return CombinationQuery(summed, every.tables)

    def _places(self, released: Sequence[str], original: Sequence[str]) -> list[int]:
        first = self.leading + len(self.released)
        own, others = list(self.released), list(self.original)
        return [
            *range(self.leading),
            *(self.leading + own.index(c) for c in released),
            *(first + others.index(a) for a in original),
        ]
