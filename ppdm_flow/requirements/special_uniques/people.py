"""Special uniques where people are counted: the rows of people by two routes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice

import numpy as np
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.people.figures import require_one_known, require_people
from ppdm_flow.mining.people.known import beside, may_link, require_linkable
from ppdm_flow.mining.people.linkage import linked_rows
from ppdm_flow.mining.people.linkage_query import linked_lines
from ppdm_flow.mining.releases.relation import crowds
from ppdm_flow.mining.uniques.people import RowsOfPeople
from ppdm_flow.requirements.special_uniques.attributes import ReleasedAttributes
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS

_SETS = 100
"""So many sets in one query at most."""


def released_people(told: ReleasedAttributes, candidate: DataView, ctx: AuditContext) -> RowsOfPeople:
    """Return the released rows with their people. Raises UnmeasuredError where these cannot be counted."""
    named, others = _beside(told, candidate, ctx)
    rows = ReleasedRows(candidate, ctx)
    counts = rows.counts((*told.columns, *named, *others), _subject(ctx))
    codes = np.repeat(counts.codes, counts.counts, axis=0)
    width = len(told.columns)
    person = codes[:, -1].astype(np.int64) + SPECIALS
    linked = np.zeros(len(person), dtype=np.bool_)
    if named or others:
        cells = [codes[:, width + i] for i in range(len(named) + len(others))]
        linked = linked_rows(person, cells[: len(named)], cells[len(named) :]).rows
        _require_one_known(int(linked.sum()), int(np.bincount(person[linked]).max(initial=0)), ctx)
    return RowsOfPeople.of(codes[:, :width], person, linked)


def singled_out_people(
    sql: Sql, told: ReleasedAttributes, candidate: DataView, size: int, ctx: AuditContext
) -> tuple[list[int], int]:
    """Return how many people a set of at most 1, …, ``size`` attributes singles out, and how many there are, in SQL.

    Raises UnmeasuredError as the first route.
    """
    named, others = _beside(told, candidate, ctx)
    relation = ReleasedRows(candidate, ctx).relation((*told.columns, *named, *others), _subject(ctx))
    if relation is None:
        raise ValueError("rows must be readable by SQL, but they have no database relation")
    width, links = len(told.columns), len(named) + len(others)
    places = [f"c{width + i}" for i in range(links)]
    person = f"c{width + links}"
    if links:
        lines = linked_lines(
            sql, relation.text, relation.tables, person, places[: len(named)], places[len(named) :], "n"
        )
    else:
        lines = sql.table(f"SELECT *, FALSE AS linked FROM ({relation.text})", (), relation.tables)  # noqa: S608  # our own query
    each = f"SELECT SUM(n) AS m FROM lines WHERE linked GROUP BY {person}"  # noqa: S608  # as above
    linked, most = sql.rows(f"SELECT COALESCE(SUM(m), 0), COALESCE(MAX(m), 0) FROM ({each})", (), {"lines": lines})[0]  # noqa: S608  # as above
    _require_one_known(int(linked), int(most), ctx)
    people = int(sql.rows(f"SELECT COUNT(DISTINCT {person}) FROM lines", (), {"lines": lines})[0][0])  # noqa: S608  # as above
    found: set[str] = set()
    many: list[int] = []
    for level in range(1, size + 1):
        sets = (_places(told, chosen) for chosen in combinations(told.carriers, level))
        while some := tuple(islice(sets, _SETS)):
            found.update(_alone(sql, lines, some, person, ctx.nulls, linked=bool(linked)))
        many.append(len(found))
    return many, people


def _beside(told: ReleasedAttributes, candidate: DataView, ctx: AuditContext) -> tuple[list[str], list[str]]:
    """Return the columns that may link rows: those that stand for the person, and others; none where no row can be.

    Raises UncountedPeopleError where nothing says whose the rows are.
    """
    if ctx.people is None:
        raise ValueError("the policy counts no people")
    require_people(ctx.people, ctx)
    revealing = RevealingColumns(told.columns, (), told.names)
    return beside(revealing, candidate, ctx.people, ctx) if may_link(revealing, candidate, ctx) else ([], [])


def _subject(ctx: AuditContext) -> tuple[str, ...]:
    return () if ctx.people is None else (ctx.people.subject,)


def _require_one_known(linked: int, most: int, ctx: AuditContext) -> None:
    """Raise UnmeasuredError where several linked rows of a person, who has ``most``, may be known."""
    require_linkable(linked, ctx.nulls, mixed=False)
    if ctx.people is not None:
        require_one_known(linked, most, ctx.people, "whom a few attributes of several rows single out")


def _places(told: ReleasedAttributes, chosen: Sequence[Sequence[str]]) -> tuple[int, ...]:
    place = {name: i for i, name in enumerate(told.columns)}
    return tuple(dict.fromkeys(place[c] for each in chosen for c in each))


def _alone(
    sql: Sql, lines: pa.Table, sets: Sequence[Sequence[int]], person: str, nulls: Nulls, *, linked: bool
) -> list[str]:
    """Return the people whom one of the sets singles out; linked rows are looked at among themselves as well."""
    rows = ["lines", *(["(SELECT * FROM lines WHERE linked)"] if linked else [])]
    each = [_query(source, places, person, nulls) for source in rows for places in sets]
    return [str(p) for (p,) in sql.rows(" UNION ".join(each), (), {"lines": lines})]


def _query(source: str, places: Sequence[int], person: str, nulls: Nulls) -> str:
    """Return a SELECT of the people who are alone in a class, or in a crowd where a missing value may be any."""
    keys = ", ".join(f"c{i}" for i in places)
    if nulls is not Nulls.WILDCARD:
        known = f"WHERE {' AND '.join(f'c{i} IS NOT NULL' for i in places)}" if nulls is Nulls.EXCLUDE else ""
        return f"(SELECT MIN({person}) FROM {source} {known} GROUP BY {keys} HAVING MIN({person}) = MAX({person}))"  # noqa: S608  # our own names
    renamed = ", ".join(f"c{i} AS c{j}" for j, i in enumerate(places))
    ends = f"MIN({person}) AS low, MAX({person}) AS high, ROW_NUMBER() OVER () AS id"
    some = f"(SELECT {renamed}, {ends} FROM {source} GROUP BY {keys})"  # noqa: S608  # the same
    pairs = crowds(some, some, len(places), "a.id, b.low, b.high")
    return f"(SELECT MIN(low) FROM ({pairs}) GROUP BY id HAVING MIN(low) = MAX(high))"  # noqa: S608  # the same
