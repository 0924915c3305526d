"""Original and released rows for the classifiers: side by side where they can be paired, else each on their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ppdm_flow.audits.learning.sides import Integers, LearningSide, side
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import union
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.schema import Schema
from ppdm_flow.tables.table import Table, concat

NO_FEATURE = (Role.IDENTIFIER, Role.WEIGHT, Role.SAMPLING_WEIGHT, Role.SUBJECT, Role.ITEMS)

Types = Mapping[str, AttributeType]


@dataclass(frozen=True, slots=True, eq=False)
class GatheredRows:
    """``released`` is None where the release has no target. ``paired``: row i is the same person on both sides.

    ``available`` is the number of persons that there are, before any limit.
    """

    original: LearningSide
    released: LearningSide | None
    paired: bool
    available: int


@dataclass(frozen=True, slots=True, eq=False)
class RowsByPerson:
    """A table, and how many persons each of its rows stands for, shape (rows,)."""

    table: Table
    copies: Integers


def gather(
    original: DataView, candidate: DataView, ctx: AuditContext, target: str, column: str | None, limit: int
) -> GatheredRows:
    """Read at most ``limit`` persons; rows without a class are left out. ``column`` is the released target."""
    before = features(original.schema, target)
    if column is None:
        mine = _sampled(original, limit, [*before, target])
        return GatheredRows(_side(mine, before, target), None, paired=False, available=_persons(original))
    after = features(candidate.schema, column)
    if ctx.pairs is None:
        mine, theirs = _sampled(original, limit, [*before, target]), _sampled(candidate, limit, [*after, column])
        left, right = _same_classes(mine, target, theirs, column)
        sides = _side(left, before, target), _side(right, after, column)
        return GatheredRows(*sides, paired=False, available=max(_persons(original), _persons(candidate)))
    left, right = _paired(ctx.pairs, candidate, [*before, target], [*after, column], limit)
    left, right = _same_classes(left, target, right, column)
    known = (left.table[target].codes >= 0) & (right.table[column].codes >= 0)
    sides = _side(_kept(left, known), before, target), _side(_kept(right, known), after, column)
    return GatheredRows(*sides, paired=True, available=_persons(candidate))


def features(schema: Schema, target: str) -> Types:
    """Return the columns to learn from, with their types."""
    return {f.name: f.type for f in schema if f.role not in NO_FEATURE and f.name != target}


def _persons(view: DataView) -> int:
    return view.counts(()).total


def _sampled(view: DataView, limit: int, columns: list[str]) -> RowsByPerson:
    weight = view.schema.weight
    table = view.sample(limit, list(dict.fromkeys(columns if weight is None else [*columns, weight])))
    return RowsByPerson(table, _copies(table, view.schema.weight, limit))


def _paired(
    pairs: PairedView, candidate: DataView, original: list[str], released: list[str], limit: int
) -> tuple[RowsByPerson, RowsByPerson]:
    """Return at most ``limit`` pairs, evenly spaced over all of them."""
    weight = candidate.schema.weight
    wanted = [*released, weight] if weight else released
    step = max(1.0, candidate.row_count / limit)
    seen, left, right = 0, [], []
    for mine, theirs in pairs.pairs(original, wanted):
        first = int(np.ceil(seen / step))
        places = (np.arange(first, np.ceil((seen + len(mine)) / step)) * step).astype(np.int64) - seen
        places = places[(places >= 0) & (places < len(mine))]
        left.append(mine.take(places))
        right.append(theirs.take(places))
        seen += len(mine)
    if not left:
        return RowsByPerson(_empty(original), np.zeros(0, dtype=np.int64)), RowsByPerson(
            _empty(wanted), np.zeros(0, dtype=np.int64)
        )
    after = concat(right)
    copies = _copies(after, weight, limit)
    return RowsByPerson(concat(left), copies), RowsByPerson(after, copies)


def _empty(names: list[str]) -> Table:
    return Table.of({n: [] for n in names})


def _copies(table: Table, weight: str | None, limit: int) -> Integers:
    """Return the persons of each row; where there are more than ``limit``, those of an even choice of them."""
    if weight is None:
        return np.ones(len(table), dtype=np.int64)
    ends = np.cumsum(weights_of(table[weight]))
    total = int(ends[-1]) if len(ends) else 0
    if total <= limit:
        return np.diff(ends, prepend=0)
    chosen = np.arange(limit) * total // limit
    return np.bincount(np.searchsorted(ends, chosen, side="right"), minlength=len(ends)).astype(np.int64)


def _same_classes(
    left: RowsByPerson, target: str, right: RowsByPerson, column: str
) -> tuple[RowsByPerson, RowsByPerson]:
    """Code the classes of both sides alike."""
    names = union((left.table[target].categories, right.table[column].categories))
    return (
        RowsByPerson(left.table.replaced({target: left.table[target].onto(names)}), left.copies),
        RowsByPerson(right.table.replaced({column: right.table[column].onto(names)}), right.copies),
    )


def _kept(rows: RowsByPerson, known: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> RowsByPerson:
    return RowsByPerson(rows.table.take(known), rows.copies[known])


def _side(rows: RowsByPerson, types: Types, target: str) -> LearningSide:
    known = _kept(rows, rows.table[target].codes >= 0)
    return side(known.table, types, known.table[target].codes.astype(np.int64), known.copies)
