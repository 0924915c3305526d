"""The rows of a release and of another table, in order, column beside column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.covering import LabelCover, cover
from ppdm_flow.audits.labels.file import KnownTable, known_columns, read
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.labels.unreadable import of_release
from ppdm_flow.audits.unsorted_matching.spec import UnsortedMatchingParams
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import released, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_NEVER = (Role.WEIGHT, Role.ITEMS)


@dataclass(frozen=True, slots=True, eq=False)
class OrderedColumn:
    """One column of the release and the other table's, compacted; ``fits`` says which labels stand for which values."""

    name: str
    mine: Column
    other: Column
    fits: LabelCover

    @property
    def by_chance(self) -> float:
        """The share of pairs of a released and another row that fit."""
        labels = np.bincount(self.mine.dense, minlength=self.mine.width)
        values = np.bincount(self.other.dense, minlength=self.other.width)
        sums = np.concatenate([[0], np.cumsum(labels[self.fits.labels])])
        of_value = labels[self.fits.wide].sum() + sums[self.fits.starts[1:]] - sums[self.fits.starts[:-1]]
        of_value = np.where(self.fits.unknown, labels.sum(), of_value)
        return float(of_value @ values) / (float(labels.sum()) * float(values.sum()))

    def agree(self) -> Truths:
        """Return at which positions the two rows fit; both tables have as many."""
        mine, other = self.mine.dense.astype(np.int64), self.other.dense.astype(np.int64)
        width = len(self.fits.wide)
        owner = np.repeat(np.arange(len(self.fits.unknown)), np.diff(self.fits.starts))
        keys = owner * width + self.fits.labels
        pairs = other * width + mine
        place = np.minimum(np.searchsorted(keys, pairs), max(0, len(keys) - 1))
        same = keys[place] == pairs if len(keys) else np.zeros(len(pairs), dtype=np.bool_)
        agreeing: Truths = same | self.fits.wide[mine] | self.fits.unknown[other]
        return agreeing


def sides(
    params: UnsortedMatchingParams, original: DataView, candidate: DataView, ctx: AuditContext
) -> list[OrderedColumn]:
    """Read what both tables have, but for columns whose labels cannot be read: any of them tells the order of all.

    Raises DataError where the file cannot be used.
    """
    chosen = candidate.schema.names if params.attributes is None else released(params.attributes, candidate, ctx)
    columns = [c for c in chosen if candidate.schema[c].role not in _NEVER]
    if params.other is not None:
        file = KnownTable(ctx.home / params.other, params.delimiter, params.columns)
        known = known_columns(file, [(c, source_of(c, ctx)) for c in columns])
        other = read(file, known)
        theirs = {c: other[c] for c in known}
    else:
        sources = {c: source_of(c, ctx) for c in columns}
        there = {c: s for c, s in sources.items() if s in original.schema and original.schema[s].role not in _NEVER}
        before = original.table(list(dict.fromkeys(there.values())))
        theirs = {c: before[s] for c, s in there.items()}
    mine = candidate.table(list(theirs)) if theirs else None
    return [] if mine is None else _beside(list(theirs), mine, theirs, ctx)


def _beside(
    columns: Sequence[str], mine: Table, theirs: Mapping[str, Column], ctx: AuditContext
) -> list[OrderedColumn]:
    pairs = []
    for name in columns:
        left, right = mine[name].compact(), theirs[name].compact()
        hierarchy = hierarchy_of(name, ctx)
        if of_release(name, left.categories, right.categories, hierarchy, ctx) is not None:
            continue
        fits = cover(left.categories, right.categories, hierarchy, ctx.nulls, ctx.home)
        pairs.append(OrderedColumn(name, left, right, fits))
    return pairs
