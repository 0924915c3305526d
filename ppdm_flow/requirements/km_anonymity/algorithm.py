"""The measured k of k^m-anonymity: the smallest support of a combination of at most m items that occurs at all.

Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008, definition 1. An adversary who knows at most m items of a
person's set finds no set with all of them, or at least k; where people are counted, the sets of at least k people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.classes.wording import unreleased
from ppdm_flow.mining.exposure.columns import facts_of
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.people.figures import require_one_known, require_people
from ppdm_flow.mining.people.linkage import linked_lines, linked_rows
from ppdm_flow.mining.releases.attributes import listed, weight_of
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.sdk.paired_relation import cells_of
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.sets import Baskets, stacked
from ppdm_flow.tables.table import Table, concat

Ints = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]


class KmAnonymityAudit:
    """Counts combinations of items within each set."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest support, over all and by number of items."""
        del original
        parts = [_judged(requirement, candidate, ctx) for requirement in _own(ctx)]
        return AuditOutcome(
            figures={name: figure for part in parts for name, figure in part.figures.items()},
            measured=tuple(m for part in parts for m in part.measured),
            findings=tuple(f for part in parts for f in part.findings),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Join the items of each set with themselves in SQL."""
        del original
        figures: dict[str, float | int | None] = {}
        for requirement in _own(ctx):
            columns, derived = columns_of(requirement, candidate, ctx)
            if ctx.sql is None or not columns or derived:
                continue
            try:
                every = [s for c in columns for s in supports_sql(requirement, c, candidate, ctx, ctx.sql)]
            except (UnmeasuredError, RandomizedSetsError):
                continue
            figures |= {name: figure.value for name, figure in _figures(requirement, _least(every), ctx).items()}
        return figures


def _judged(requirement: KmAnonymity, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
    columns, derived = columns_of(requirement, candidate, ctx)
    if not columns and not derived:
        return AuditOutcome(measured=(unreleased(requirement),))
    if derived:
        text = (
            f"{listed(derived)}: computed from the sets of `{requirement.attribute}`, and what that reveals of"
            " combinations of items cannot be counted."
        )
        return _uncounted(requirement, "PPF880", text, ctx)
    try:
        least = _least([s for column in columns for s in supports(requirement, column, candidate, ctx)])
    except RandomizedSetsError:
        text = (
            f"The sets of `{requirement.attribute}` are randomized: combinations of released items are not those that"
            " anyone knows of a person, so their number says nothing."
        )
        return _uncounted(requirement, "PPF880", text, ctx)
    except UnmeasuredError as fault:
        return _uncounted(requirement, fault.code, fault.text, ctx)
    own = _figures(requirement, least, ctx)
    name, bound = f"{requirement.id}.k", float(requirement.k)
    text = _sentence(requirement, least, ctx)
    return AuditOutcome(own, (Measured(requirement.id, name, own[name], bound, at_most=False, sentence=text),))


def _own(ctx: AuditContext) -> list[KmAnonymity]:
    return [r for r in ctx.requirements if isinstance(r, KmAnonymity)]


def _least(supports: Sequence[Ints]) -> Ints:
    """Return the smaller supports of several columns; 0 is none."""
    many = np.stack(supports)
    none = (many == 0).all(axis=0)
    low = np.where(many == 0, np.iinfo(np.int64).max, many).min(axis=0)
    return np.where(none, 0, low)


def _unit(ctx: AuditContext) -> str:
    return "sets" if ctx.people is None else "people"


def _figures(requirement: KmAnonymity, least: Ints, ctx: AuditContext) -> dict[str, Figure]:
    some, unit = least[least > 0], _unit(ctx)
    figures = {"k": Figure(int(some.min()) if len(some) else 0, unit)}
    figures |= {f"k_{i}": Figure(int(support), unit) for i, support in enumerate(least.tolist(), start=1)}
    return {f"{requirement.id}.{name}": figure for name, figure in figures.items()}


def _sentence(requirement: KmAnonymity, least: Ints, ctx: AuditContext) -> str:
    some = least[least > 0]
    if not len(some):
        return f"No set of `{requirement.attribute}` holds an item, so there is nothing to measure."
    k = int(some.min())
    size = int(np.flatnonzero(least == k)[0]) + 1
    who = counted(k, "set") if ctx.people is None else f"{counted(k, 'person')} who {'has' if k == 1 else 'have'} a set"
    return (
        f"A reader who knows at most {counted(requirement.m, 'item')} of a person's `{requirement.attribute}` finds at"
        f" least {who} with all of them; {requirement.k:,} are required. The rarest combination has"
        f" {counted(size, 'item')}."
    )


def _uncounted(requirement: KmAnonymity, code: str, text: str, ctx: AuditContext) -> AuditOutcome:
    """Say why it is not measured."""
    figure = Figure(None, _unit(ctx), note=text)
    name, bound = f"{requirement.id}.k", float(requirement.k)
    measured = Measured(requirement.id, name, figure, bound, at_most=False, sentence=text, verifiable=False)
    return AuditOutcome(measured=(measured,), findings=(Finding(code, Severity.WARNING, text, requirement.id),))


# Supports of combinations of items, by two routes: how many rows, or people with such a row, have them in one set.
#
# Where people are counted, rows that are seen to be one person's are counted among themselves as well: an adversary who
# knows that a person has such rows looks for the items in these alone.


_UNTOLD = "what items of several rows tell together"


class RandomizedSetsError(Exception):
    """Sets are randomized: combinations of released items are not those of anybody."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnedSets:
    """``sets`` of rows, how many rows each counts (rows,), and each row's person, ``persons`` (rows,), ascending."""

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
    facts_by_column = {name: facts_of(name, ctx) for name in candidate.schema.names}
    every = [c for c, from_ in facts_by_column.items() if requirement.attribute in from_.computed_from]
    sets = [c for c in every if candidate.schema[c].role is Role.ITEMS]
    return sets, [c for c in every if c not in sets and requirement.attribute not in facts_by_column[c].drawn]


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
        raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
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
    """Return the released columns that identify the person, and the others beside the sets.

    Raises UnmeasuredError where people cannot be counted.
    """
    require_people(people, ctx)
    own, others = columns_of(requirement, candidate, ctx)
    outside = [c for c in candidate.schema.names if c not in (*own, *others)]
    named = [c for c in outside if people.subject in facts_of(c, ctx).computed_from]
    return named, [c for c in outside if c not in named]


def _paired(column: str, others: Sequence[str], ctx: AuditContext, people: PeopleCount) -> tuple[Table, Table]:
    """Return whose the released rows are, and what they show."""
    if ctx.owners is None:
        raise ValueError("no column says whose the rows are, so people cannot be counted")
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


@compiled
def _count(
    offsets: Ints,
    items: Items,
    weights: Ints,
    persons: Ints,
    rows: Ints,
    places: Ints,
    size: int,
    counts: Ints,
    seen: Ints,
    best: Ints,
    depth: int,
) -> None:
    """Add up the items from each row's place on, and take note of the smallest sum above 0."""
    counts[:] = 0
    seen[:] = -1
    for i in range(size):
        r = rows[i]
        for place in range(places[i], offsets[r + 1]):
            if seen[items[place]] != persons[r]:
                counts[items[place]] += weights[r]
                seen[items[place]] = persons[r]
    for total in counts:
        if total > 0 and (best[depth] == 0 or total < best[depth]):
            best[depth] = total


@compiled
def smallest(offsets: Ints, items: Items, weights: Ints, persons: Ints, most: int, width: int) -> Ints:
    """Return the smallest support of an itemset of 1, …, ``most`` items that occurs; 0 where none does.

    Rows hold ascending codes below ``width``. An itemset is extended by larger codes only, within the rows that hold
    it, so that each is counted once. Rows of one number of ``persons``, which ascend, count once. What is below an
    itemset cannot matter where every size has a support of 1.
    """
    best = np.zeros(most, dtype=np.int64)
    rows = np.empty((most + 1, len(offsets) - 1), dtype=np.int64)
    places = np.empty((most + 1, len(offsets) - 1), dtype=np.int64)
    sizes = np.zeros(most + 1, dtype=np.int64)
    counts = np.zeros((most, width), dtype=np.int64)
    seen = np.zeros(width, dtype=np.int64)
    item = np.zeros(most, dtype=np.int64)
    for r in range(len(offsets) - 1):
        if weights[r] > 0:
            rows[0, sizes[0]] = r
            places[0, sizes[0]] = offsets[r]
            sizes[0] += 1
    depth = 0
    _count(offsets, items, weights, persons, rows[0], places[0], sizes[0], counts[0], seen, best, 0)
    item[0] = -1
    while depth >= 0:
        item[depth] += 1
        if item[depth] == width:
            depth -= 1
            continue
        if counts[depth, item[depth]] == 0 or depth + 1 == most or (best[depth + 1 :] == 1).all():
            continue
        wanted = item[depth]
        filled = 0
        for i in range(sizes[depth]):
            r = rows[depth, i]
            at = places[depth, i]
            while at < offsets[r + 1] and items[at] < wanted:
                at += 1
            places[depth, i] = at
            if at < offsets[r + 1] and items[at] == wanted and at + 1 < offsets[r + 1]:
                rows[depth + 1, filled] = r
                places[depth + 1, filled] = at + 1
                filled += 1
        sizes[depth + 1] = filled
        depth += 1
        item[depth] = -1
        _count(offsets, items, weights, persons, rows[depth], places[depth], filled, counts[depth], seen, best, depth)
    return best
