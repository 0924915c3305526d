"""What the release still says of the columns and of how they go together.

For each column the total variation distance between original and release; for each two columns the change of Cramér's
V. Columns are matched by their name in the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.distributions.columns import Floats, Shares, associations, chart, recoded_shares, shares
from ppdm_flow.audits.distributions.numbers import (
    COARSE,
    edges,
    has_many_values,
    in_intervals,
    interval_shares,
    is_numeric,
)
from ppdm_flow.audits.distributions.spec import DistributionsParams
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, count_each
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table

LEFT_OUT = (Role.IDENTIFIER, Role.WEIGHT, Role.SUBJECT, Role.ITEMS)

PICTURES = 60
"""Columns that get a picture: a report of a wide table stays readable."""


Bounds = Mapping[str, npt.NDArray[np.generic]]
"""By released column of many numbers, where its intervals begin."""


class DistributionsAudit:
    """Compares the released columns, and pairs of them, with those of the original."""

    def __init__(self, params: DistributionsParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return distances, losses of detail and suppressed cells by column, changes of association, and pictures."""
        pairs = [(c, source_of(c, ctx)) for c in candidate.schema.names if candidate.schema[c].role not in LEFT_OUT]
        pairs = [(c, s) for c, s in pairs if s in original.schema]
        bounds = {c: edges(original, s) for c, s in pairs if _by_interval(original, s, candidate, c)}
        changes = self._associations(pairs, bounds, original, candidate)  # first: this thread alone is busy with it
        count_each(original, [s for c, s in pairs if c not in bounds])
        count_each(candidate, [c for c, _ in pairs if c not in bounds])
        shares = {c: _shares(original, s, candidate, c, bounds.get(c), ctx) for c, s in pairs}
        charts = [chart(c, s, shares[c], ctx) for c, s in pairs[:PICTURES]]
        rows_lost = _rows_lost(original, candidate, ctx)
        figures = {**_columns(shares, bounds, ctx), "rows_lost": rows_lost, **_changes(changes)}
        return AuditOutcome(figures=figures, charts=(*charts, *_matrices(changes)))

    def _associations(
        self, pairs: list[tuple[str, str]], bounds: Bounds, original: DataView, candidate: DataView
    ) -> Associations | None:
        chosen = pairs[: self.params.pair_columns]
        if len(chosen) < 2:
            return None
        limit = self.params.pair_rows
        by_source = {s: bounds[c] for c, s in chosen if c in bounds}
        before_names, after_names = [s for _, s in chosen], [c for c, _ in chosen]
        first = _coarse(original.sample(limit, _with_weight(before_names, original)), by_source)
        by_name = {c: bounds[c] for c in after_names if c in bounds}
        second = _coarse(candidate.sample(limit, _with_weight(after_names, candidate)), by_name)
        before = associations(first, before_names, original.schema.weight)
        after = associations(second, after_names, candidate.schema.weight)
        rows = max(original.row_count, candidate.row_count)
        return Associations(after_names, before, after, limit if rows > limit else None, len(pairs))


def _with_weight(names: list[str], view: DataView) -> list[str]:
    weight = view.schema.weight
    return list(dict.fromkeys(names if weight is None else [*names, weight]))


def _coarse(table: Table, bounds: Bounds) -> Table:
    return table.replaced({name: in_intervals(table[name], each[COARSE]) for name, each in bounds.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Associations:
    """V of each two ``columns`` before and after; ``sample`` is the number of rows looked at where not all were."""

    columns: list[str]
    before: Floats
    after: Floats
    sample: int | None
    available: int

    @property
    def change(self) -> Floats:
        """The absolute change of each pair, shape (pairs,)."""
        upper = np.triu_indices(len(self.columns), 1)
        changed: Floats = np.abs(self.after - self.before)[upper]
        return changed


def _shares(
    original: DataView,
    source: str,
    candidate: DataView,
    column: str,
    bounds: npt.NDArray[np.generic] | None,
    ctx: AuditContext,
) -> Shares:
    if ctx.pairs is not None and _recoded(column, ctx) and candidate.schema.weight is None:
        recoded = recoded_shares(ctx.pairs.joint(source, column))
        if recoded is not None:
            return recoded
    if bounds is not None:
        return interval_shares(original, source, candidate, column, bounds)
    return shares(original, source, candidate, column)


def _by_interval(original: DataView, source: str, candidate: DataView, column: str) -> bool:
    if not (is_numeric(original, source) and is_numeric(candidate, column)):
        return False
    return has_many_values(original, source) or has_many_values(candidate, column)


def _recoded(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.was(Change.GENERALIZED, Change.PSEUDONYMIZED)


def _columns(shares: dict[str, Shares], bounds: Bounds, ctx: AuditContext) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for column, mine in shares.items():
        level = "compared at the released level" if ctx.pairs is not None else "new names count as different values"
        note = level if _recoded(column, ctx) else ""
        note = f"over {len(mine.names)} intervals of about equal share" if column in bounds else note
        figures[f"{column}.total_variation"] = Figure(mine.distance, "share", note=note)
        figures[f"{column}.generalization_loss"] = Figure(mine.generalization_loss, "share")
        figures[f"{column}.suppressed"] = Figure(mine.suppressed, "share")
    distances = [s.distance for s in shares.values()]
    none = "" if shares else "no column of the original is released"
    figures["mean_total_variation"] = Figure(float(np.mean(distances)) if shares else None, "share", note=none)
    figures["largest_total_variation"] = Figure(max(distances, default=None), "share", note=none)
    losses = {column: mine.generalization_loss for column, mine in shares.items()}
    worst = max(losses, key=losses.__getitem__, default="")
    mean_loss = float(np.mean(list(losses.values()))) if losses else None
    figures["mean_generalization_loss"] = Figure(mean_loss, "share", note=none)
    figures["largest_generalization_loss"] = Figure(
        losses.get(worst), "share", note=f"`{worst}`" if losses.get(worst) else none
    )
    cells = float(np.mean([s.suppressed for s in shares.values()])) if shares else None
    figures["suppressed_cells"] = Figure(cells, "share", note=none)
    return figures


def _rows_lost(original: DataView, candidate: DataView, ctx: AuditContext) -> Figure:
    """Return the share of the original's rows that the release does not have, a weighted one as often as it counts."""
    before, after = _rows(original), _rows(candidate)
    if not before:
        return Figure(None, "share", note="the original has no rows")
    generated = any(facts.was(Change.GENERATED) for facts in ctx.attributes.values())
    note = "generated rows: their number was chosen" if generated else ""
    return Figure(max(0.0, 1.0 - after / before), "share", note=note)


def _rows(view: DataView) -> int:
    weight = view.schema.weight
    if weight is None:
        return view.row_count
    return sum(int(weights_of(part[weight]).sum()) for part in view.partitions([weight]))


def _changes(associated: Associations | None) -> dict[str, Figure]:
    names = ("mean_association_change", "largest_association_change")
    if associated is None:
        return {name: Figure(None, "share", note="fewer than two columns to compare") for name in names}
    skipped = associated.available - len(associated.columns)
    note = f"of the first {len(associated.columns)} columns" if skipped else ""
    values = (float(associated.change.mean()), float(associated.change.max()))
    return {n: Figure(v, "share", sample=associated.sample, note=note) for n, v in zip(names, values, strict=True)}


def _matrices(associated: Associations | None) -> tuple[Chart, ...]:
    if associated is None:
        return ()

    def matrix(name: str, title: str, values: Floats) -> Chart:
        series = tuple(
            FigureSeries(c, tuple(map(float, row))) for c, row in zip(associated.columns, values, strict=True)
        )
        return Chart(name, title, "matrix", tuple(associated.columns), series, note="Cramér's V", group="association")

    return (
        matrix("association_before", "How columns go together: original", associated.before),
        matrix("association_after", "How columns go together: released", associated.after),
        matrix("association_change", "How columns go together: change", associated.after - associated.before),
    )
