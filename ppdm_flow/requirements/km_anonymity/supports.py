"""Supports of combinations of items, by two routes: how many rows, or people with such a row, have them in one set.

Where people are counted, rows that are seen to be one person's are looked at among themselves as well: whoever knows
that somebody has such rows looks for the items in these alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.exposure.columns import facts_of
from ppdm_flow.mining.people.figures import require_one_known, require_people
from ppdm_flow.mining.people.linkage import linked_rows
from ppdm_flow.mining.people.linkage_query import linked_lines
from ppdm_flow.mining.releases.relation import weight_of
from ppdm_flow.requirements.km_anonymity.kernels import smallest
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.paired_relation import cells_of
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.sets import Baskets, stacked
from ppdm_flow.tables.table import Table, concat

Ints = npt.NDArray[np.int64]
_UNTOLD = "what items of several rows tell together"


class RandomizedSetsError(Exception):
    """Sets are randomized: combinations of released items are not those of anybody."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnedSets:
    """``sets`` of rows, for how many each counts (rows,), and ``persons`` (rows,), ascending, of whom each is."""

    sets: Baskets
    weights: Ints
    persons: Ints

    def supports(self, most: int) -> Ints:
        """Return the smallest support by number of items, 0 where none occurs: of shape (most,)."""
        sets = self.sets
        return smallest(sets.offsets, sets.items, self.weights, self.persons, most, len(sets.categories))


def columns_of(requirement: KmAnonymity, candidate: DataView, ctx: AuditContext) -> tuple[list[str], list[str]]:
    """Return the released columns with sets that are computed from the attribute, and others that are.

    Sets may be those of the source, or made of an attribute's values. A column that is drawn from it is computed from
    none.
    """
    told = {name: facts_of(name, ctx) for name in candidate.schema.names}
    every = [c for c, from_ in told.items() if requirement.attribute in from_.computed_from]
    sets = [c for c in every if candidate.schema[c].role is Role.ITEMS]
    return sets, [c for c in every if c not in sets and requirement.attribute not in told[c].drawn]


def supports(requirement: KmAnonymity, column: str, candidate: DataView, ctx: AuditContext) -> list[Ints]:
    """Return the smallest supports of one released column; of linked rows among themselves besides.

    Raises RandomizedSetsError, and UnmeasuredError where people cannot be counted.
    """
    each = [_of_rows(column, candidate)] if ctx.people is None else _of_people(requirement, column, candidate, ctx)
    return [owned.supports(requirement.m) for owned in each]


def supports_sql(requirement: KmAnonymity, column: str, candidate: DataView, ctx: AuditContext, sql: Sql) -> list[Ints]:
    """Return the same in SQL: the items of each set are joined with themselves."""
    if ctx.people is None:
        _require_plain(column, candidate)
        cells = f"SELECT {quoted(column)} AS sets, {weight_of(candidate.schema)} AS n FROM candidate"  # noqa: S608  # quoted
        rows = f"SELECT ROW_NUMBER() OVER () AS r, * FROM ({cells})"  # noqa: S608  # our own query
        return [_joined(sql, rows, "SUM(i0.n)", requirement.m, {})]
    named, others = _beside(requirement, candidate, ctx, ctx.people)
    people = _relation(column, [*named, *others], ctx, ctx.people)
    linked = _linked_sql(people, len(named), ctx.people, sql)
    tables = {"people": people, "linked": linked}
    every = ["SELECT *, 1 AS n FROM people"]
    every += ["SELECT *, 1 AS n FROM people WHERE r IN (SELECT r FROM linked)"] if len(linked) else []
    return [_joined(sql, rows, "COUNT(DISTINCT i0.p)", requirement.m, tables) for rows in every]


def _linked_sql(people: pa.Table, named: int, whom: PeopleCount, sql: Sql) -> pa.Table:
    """Return the numbers of the linked rows."""
    places = [name for name in people.column_names if name.startswith("x")]
    text = f"SELECT {', '.join(('r', 'p', *places))}, 1 AS n FROM people"  # noqa: S608  # our own names
    lines = linked_lines(sql, text, {"people": people}, "p", places[:named], places[named:])
    each = "SELECT COUNT(*) AS m FROM lines WHERE linked GROUP BY p"
    totals = f"SELECT COALESCE(SUM(m), 0), COALESCE(MAX(m), 0) FROM ({each})"  # noqa: S608  # our own query
    linked, most = sql.rows(totals, (), {"lines": lines})[0]
    require_one_known(int(linked), int(most), whom, _UNTOLD)
    return sql.table("SELECT r FROM lines WHERE linked", (), {"lines": lines})


def _require_plain(column: str, candidate: DataView) -> None:
    """Raise RandomizedSetsError where the sets of a released column are none of items."""
    for part in candidate.partitions([column]):
        if not isinstance(part.sets[column], Baskets):
            raise RandomizedSetsError


def _of_rows(column: str, candidate: DataView) -> OwnedSets:
    weight = candidate.schema.weight
    parts, weights = [], []
    for part in candidate.partitions([column, *([weight] if weight else [])]):
        parts.append(_plain(part, column))
        weights.append(weights_of(part[weight]) if weight else np.ones(len(part), dtype=np.int64))
    sets = _stacked(parts)
    return OwnedSets(sets, np.concatenate([np.zeros(0, dtype=np.int64), *weights]), np.arange(len(sets)))


def _of_people(requirement: KmAnonymity, column: str, candidate: DataView, ctx: AuditContext) -> list[OwnedSets]:
    if ctx.people is None:
        raise ValueError("the policy counts no people")
    named, others = _beside(requirement, candidate, ctx, ctx.people)
    whose, shown = _paired(column, [*named, *others], ctx, ctx.people)
    person = whose[ctx.people.subject].codes.astype(np.int64)
    linked = linked_rows(person, [shown[c].codes for c in named], [shown[c].codes for c in others]).rows
    require_one_known(int(linked.sum()), int(np.bincount(person[linked]).max(initial=0)), ctx.people, _UNTOLD)
    order = np.argsort(person, kind="stable")
    sets = _plain(shown, column)
    each = [order, order[linked[order]]] if linked.any() else [order]
    return [OwnedSets(sets.take(rows), np.ones(len(rows), dtype=np.int64), person[rows]) for rows in each]


def _beside(
    requirement: KmAnonymity, candidate: DataView, ctx: AuditContext, people: PeopleCount
) -> tuple[list[str], list[str]]:
    """Return the released columns that stand for the person, and the others beside the sets.

    Raises UnmeasuredError where people cannot be counted.
    """
    require_people(people, ctx)
    own, told = columns_of(requirement, candidate, ctx)
    outside = [c for c in candidate.schema.names if c not in (*own, *told)]
    named = [c for c in outside if people.subject in facts_of(c, ctx).computed_from]
    return named, [c for c in outside if c not in named]


def _paired(column: str, others: Sequence[str], ctx: AuditContext, people: PeopleCount) -> tuple[Table, Table]:
    """Return whose the released rows are, and what they show."""
    if ctx.owners is None:
        raise ValueError("nothing says whose the rows are")
    both = list(ctx.owners.pairs([people.subject], [column, *others]))
    if not both:
        nothing = {name: Column.of([]) for name in (people.subject, *others)}
        shown = Table(nothing, np.zeros(0, dtype=np.int64), {column: Baskets.of([])})
        return shown, shown
    left, right = (concat(list(side)) for side in zip(*both, strict=True))
    return left, right


def _relation(column: str, others: Sequence[str], ctx: AuditContext, people: PeopleCount) -> pa.Table:
    """Return released rows for the database: number ``r``, person ``p``, ``sets`` of codes, others as texts x0, x1."""
    whose, shown = _paired(column, others, ctx, people)
    cells = {f"x{i}": cells_of(shown[name]) for i, name in enumerate(others)}
    person = pa.array(whose[people.subject].codes.astype(np.int64))
    sets = _plain(shown, column)
    items = pa.LargeListArray.from_arrays(pa.array(sets.offsets, pa.int64()), pa.array(sets.items, pa.int32()))
    return pa.table({"r": pa.array(np.arange(len(shown))), "p": person, "sets": items, **cells})


def _plain(part: Table, column: str) -> Baskets:
    sets = part.sets[column]
    if not isinstance(sets, Baskets):
        raise RandomizedSetsError
    return sets


def _stacked(parts: Sequence[Baskets]) -> Baskets:
    sets = stacked(parts) if parts else Baskets.of([])
    if not isinstance(sets, Baskets):
        raise RandomizedSetsError
    return sets


def _joined(sql: Sql, rows: str, support: str, most: int, tables: dict[str, pa.Table]) -> Ints:
    """Return the smallest ``support`` of combinations of 1, …, ``most`` items; ``rows`` have (r, n, sets)."""
    items = f"WITH items AS MATERIALIZED (SELECT * EXCLUDE (sets), UNNEST(sets) AS item FROM ({rows}) WHERE n > 0)"  # noqa: S608  # our own
    smallest_of = []
    for size in range(1, most + 1):
        joins = "".join(
            f" JOIN items i{i} ON i{i}.r = i{i - 1}.r AND i{i}.item > i{i - 1}.item" for i in range(1, size)
        )
        keys = ", ".join(f"i{i}.item" for i in range(size))
        query = f"{items} SELECT COALESCE(MIN(n), 0) FROM (SELECT {support} AS n FROM items i0{joins} GROUP BY {keys})"  # noqa: S608  # our own names
        smallest_of.append(int(sql.rows(query, (), tables)[0][0]))
    return np.array(smallest_of, dtype=np.int64)
