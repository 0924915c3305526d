"""Original and release as tables with row weights, and the original's two random halves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table

LEFT_OUT = (Role.IDENTIFIER, Role.WEIGHT, Role.SAMPLING_WEIGHT, Role.SUBJECT, Role.ITEMS)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class UtilitySide:
    """Rows of one side, and the number of persons of each: ``weights`` (rows,).

    ``sample`` is the number of rows looked at where the side has more; None where all rows are here.
    """

    table: Table
    weights: Floats
    sample: int | None = None

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, name: str) -> Column:
        return self.table[name]

    def take(self, rows: npt.NDArray[np.bool_]) -> UtilitySide:
        """Return the rows under a mask."""
        return UtilitySide(self.table.take(rows), self.weights[rows], self.sample)


def compared_columns(
    original: DataView, candidate: DataView, ctx: AuditContext, chosen: Collection[str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Return (released, source) names of the columns to compare, in the release's order; of ``chosen`` only.

    ``chosen`` may have either name.
    """
    pairs = [(f.name, source_of(f.name, ctx)) for f in candidate.schema if f.role not in LEFT_OUT]
    known = [(c, s) for c, s in pairs if s in original.schema and original.schema[s].role not in LEFT_OUT]
    return tuple((c, s) for c, s in known if chosen is None or c in chosen or s in chosen)


def side(view: DataView, columns: Sequence[str], limit: int) -> UtilitySide:
    """Read at most ``limit`` rows of a view, evenly spaced: the same ones every time."""
    weight = view.schema.weight
    table = view.sample(limit, [*dict.fromkeys((*columns, *([] if weight is None else [weight])))])
    weights = np.ones(len(table)) if weight is None else weights_of(table[weight]).astype(np.float64)
    known = tuple(dict.fromkeys(columns))
    return UtilitySide(table.select(known), weights, len(table) if len(table) < view.row_count else None)


def persons(view: DataView, columns: Sequence[str], limit: int) -> tuple[Table, int | None]:
    """Read at most ``limit`` persons, a weighted row as often as it counts; say how many, where these are not all."""
    rows = side(view, columns, limit)
    ends = np.cumsum(rows.weights)
    total = int(ends[-1]) if len(ends) else 0
    if view.schema.weight is None:
        return rows.table, rows.sample
    number = min(limit, total)
    places = np.arange(number) * total // max(1, number)
    table = rows.table.take(np.searchsorted(ends, places, side="right"))
    return table, number if number < total or rows.sample else None


def half(original: DataView, ctx: AuditContext) -> Holdout:
    """Return a half of the original's rows by a fixed hash of their numbers; where people are counted, of its people.

    Two halves differ by what two samples of one population differ by: rows of one person are more alike than others.
    """
    chosen = Holdout(0.5)
    if ctx.people is None or ctx.people.subject not in original.schema:
        return chosen
    return chosen.by_person(original.partitions([ctx.people.subject]), ctx.people.subject)


def halves(rows: UtilitySide, chosen: Holdout) -> tuple[UtilitySide, UtilitySide]:
    """Split rows in two."""
    first = chosen.held_out(rows.table.rows)
    return rows.take(first), rows.take(~first)
