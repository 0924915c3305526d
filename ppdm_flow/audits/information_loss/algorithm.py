"""The information that analyses of numbers lose: cells, moments, quantiles, distributions and correlations.

Everything is measured a second time between two random halves of the original, which differ by sampling alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.information_loss.spec import InformationLossParams
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.mining.utility.coding import released_numbers
from ppdm_flow.mining.utility.numbers import (
    NumericCells,
    Relations,
    column_losses,
    eigenvalue_change,
    il1s,
    mean_and_deviation,
    quantiles,
    relations,
)
from ppdm_flow.mining.utility.sides import UtilitySide, compared_columns, half, halves, side
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Floats = npt.NDArray[np.float64]

OF_COLUMNS = {
    "il1s": "ratio",
    "mean_change": "ratio",
    "variance_change": "ratio",
    "quantile_change": "ratio",
    "wasserstein": "ratio",
    "kolmogorov_smirnov": "share",
    "missing_change": "share",
}
"""What is measured of each column, and its unit."""
OF_PAIRS = ("correlation_change", "covariance_change")
ROUNDING = 1e-9
"""Losses up to this are those of floating-point numbers: no column is named for one."""
NO_PAIRS = "rows cannot be paired"


class InformationLossAudit:
    """Compares the released columns of numbers with those of the original."""

    def __init__(self, params: InformationLossParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return losses by column and of relations, each beside the baseline, and pictures."""
        pairs = compared_columns(original, candidate, ctx, self.params.attributes)
        gathered = gather(original, candidate, ctx, pairs, self.params.rows)
        figures = {"columns_not_comparable": _not_comparable(gathered)}
        if not gathered.columns or not len(gathered.before.values) or not len(gathered.after.values):
            return AuditOutcome(figures | _nothing("no column has numbers in the original and in the release"))
        together = slice(0, self.params.pair_columns)
        chosen = [
            NumericCells(c.values[:, together], c.weights) for c in (gathered.before, gathered.after, *gathered.halves)
        ]
        before, after, *halves = [relations(cells) for cells in chosen]
        figures |= self._by_column(gathered, linked(ctx, gathered, self.params.rows))
        figures |= _by_pair(gathered, before, after, halves)
        return AuditOutcome(figures, charts=charts(gathered, before, after))

    def _by_column(self, gathered: GatheredColumns, cells: tuple[Floats, Floats, Floats] | None) -> dict[str, Figure]:
        losses = column_losses(gathered.before, gathered.after, gathered.deviations)
        chance = column_losses(*gathered.halves, gathered.deviations)
        nothing = np.full(len(gathered.columns), np.nan)
        loss = nothing if cells is None else il1s(*cells, gathered.deviations)
        one, other = gathered.halves
        rows = min(len(one.values), len(other.values))
        random = il1s(one.values[:rows], other.values[:rows], np.ones(rows), gathered.deviations) if rows else nothing
        figures: dict[str, Figure] = {}
        for name, unit in OF_COLUMNS.items():
            field = name.removesuffix("_change")
            here, baseline = (loss, random) if name == "il1s" else (getattr(losses, field), getattr(chance, field))
            without = NO_PAIRS if name == "il1s" and cells is None else "the original has no two values, or no cells"
            of_baseline = "of unlike rows, paired at random" if name == "il1s" else "between halves of the original"
            for i, column in enumerate(gathered.columns):
                figures[f"{column}.{name}"] = _figure(here[i], unit, gathered.sample, without)
                figures[f"{column}.{name}.baseline"] = _figure(baseline[i], unit, None, without, of_baseline)
            figures |= _total(name, unit, here, baseline, [f"`{c}`" for c in gathered.columns], without)
        return figures


def _figure(value: float, unit: str, sample: int | None, without: str, note: str = "") -> Figure:
    if np.isnan(value):
        return Figure(None, unit, note=without)
    return Figure(float(value), unit, sample=sample, note=note)


def _total(
    name: str, unit: str, values: Floats, baseline: Floats, of: list[str], without: str = ""
) -> dict[str, Figure]:
    """Return mean and largest of values that exist, each beside its baseline; the largest names where it is."""
    figures: dict[str, Figure] = {}
    for word, least in (("mean", np.nanmean), ("largest", np.nanmax)):
        for end, each in (("", values), (".baseline", baseline)):
            known = ~np.isnan(each)
            some = word == "largest" and known.any() and np.nanmax(each) > ROUNDING
            where = of[int(np.nanargmax(each))] if some else ""
            figure = Figure(float(least(each)), unit, note=where) if known.any() else Figure(None, unit, note=without)
            figures[f"{word}_{name}{end}"] = figure
    return figures


def _by_pair(
    gathered: GatheredColumns, before: Relations, after: Relations, halves: list[Relations]
) -> dict[str, Figure]:
    number = len(before.correlation)
    upper = np.triu_indices(number, 1)
    names = [f"`{gathered.columns[i]}` and `{gathered.columns[j]}`" for i, j in zip(*upper, strict=True)]
    spread = gathered.deviations[:number]
    scale = np.outer(spread, spread)
    scale[scale <= 0] = np.nan
    without = "fewer than two columns with correlations"
    figures: dict[str, Figure] = {}
    for name, unit, divided in (("correlation", np.ones_like(scale), 1.0), ("covariance", scale, 1.0)):
        change, chance = (
            np.abs((getattr(b, name) - getattr(a, name)) / (unit * divided))[upper]
            for a, b in ((before, after), (halves[0], halves[1]))
        )
        figures |= _total(f"{name}_change", "ratio", change, chance, names, without)
    moved = eigenvalue_change(before.correlation, after.correlation)
    chance_moved = eigenvalue_change(halves[0].correlation, halves[1].correlation)
    figures["eigenvalue_change"] = _figure(moved, "ratio", None, without)
    figures["eigenvalue_change.baseline"] = _figure(chance_moved, "ratio", None, without)
    return figures


def _not_comparable(gathered: GatheredColumns) -> Figure:
    note = f"{listed(gathered.labels)}: released as labels" if gathered.labels else ""
    return Figure(len(gathered.labels), "count", note=note)


def _nothing(why: str) -> dict[str, Figure]:
    units = OF_COLUMNS | dict.fromkeys(OF_PAIRS, "ratio")
    names = {f"{word}_{name}": unit for name, unit in units.items() for word in ("mean", "largest")}
    names["eigenvalue_change"] = "ratio"
    return {f"{n}{end}": Figure(None, unit, note=why) for n, unit in names.items() for end in ("", ".baseline")}


# The columns that hold numbers in the original and in the release, and their cells.


@dataclass(frozen=True, slots=True, eq=False)
class GatheredColumns:
    """``columns`` of numbers as released, their ``sources``, and their cells ``before`` and ``after``.

    ``halves`` are those of the original, ``deviations`` (columns,) its standard deviations. ``labels`` are columns of
    numbers of which the release has labels. ``sample`` is given where not all rows are here. ``weight`` is the
    original's column of weights, ``rows`` are all that the release has.
    """

    columns: tuple[str, ...]
    sources: tuple[str, ...]
    before: NumericCells
    after: NumericCells
    halves: tuple[NumericCells, NumericCells]
    deviations: Floats
    labels: tuple[str, ...]
    sample: int | None
    weight: str | None
    rows: int


def gather(
    original: DataView, candidate: DataView, ctx: AuditContext, pairs: Sequence[tuple[str, str]], limit: int
) -> GatheredColumns:
    """Read at most ``limit`` rows of each side."""
    before, after = side(original, [s for _, s in pairs], limit), side(candidate, [c for c, _ in pairs], limit)
    known = [(c, s) for c, s in pairs if isinstance(before[s], NumericColumn)]
    read = {c: released_numbers(before[s], after[c], c, ctx) for c, s in known}
    after = UtilitySide(after.table.replaced(read), after.weights, after.sample)
    both = [(c, s) for c, s in known if isinstance(after[c], NumericColumn)]
    columns, sources = tuple(c for c, _ in both), tuple(s for _, s in both)
    labels = tuple(c for c, _ in known if c not in columns)
    mine = _cells(before, sources)
    parts = halves(before, half(original, ctx))
    deviations = np.array([mean_and_deviation(*mine.present(i))[1] for i in range(len(columns))])
    return GatheredColumns(
        columns,
        sources,
        mine,
        _cells(after, columns),
        (_cells(parts[0], sources), _cells(parts[1], sources)),
        deviations,
        labels,
        before.sample or after.sample,
        original.schema.weight,
        candidate.row_count,
    )


def linked(ctx: AuditContext, gathered: GatheredColumns, limit: int) -> tuple[Floats, Floats, Floats] | None:
    """Return the cells before and after of the same people, and their weights; None where rows cannot be paired.

    Of at most about ``limit`` rows, evenly spaced.
    """
    if ctx.pairs is None:
        return None
    weight = gathered.weight
    wanted = [*dict.fromkeys(gathered.sources), *([weight] if weight else [])]
    step = max(1, -(-gathered.rows // limit))
    before, after, weights = [np.zeros((0, len(gathered.columns)))], [np.zeros((0, len(gathered.columns)))], []
    for mine, theirs in ctx.pairs.pairs(wanted, gathered.columns):
        rows = slice(None, None, step)
        both = zip(gathered.columns, gathered.sources, strict=True)
        read = {c: released_numbers(mine[s], theirs[c], c, ctx) for c, s in both}
        before.append(_floats(mine, gathered.sources)[rows])
        after.append(_floats(theirs.replaced(read), gathered.columns)[rows])
        weights.append((weights_of(mine[weight]).astype(np.float64) if weight else np.ones(len(mine)))[rows])
    return np.concatenate(before), np.concatenate(after), np.concatenate([np.zeros(0), *weights])


def _cells(rows: UtilitySide, columns: Sequence[str]) -> NumericCells:
    return NumericCells(_floats(rows.table, columns), rows.weights)


def _floats(table: Table, columns: Sequence[str]) -> Floats:
    numbers = [_numbers(table[name]) for name in columns]
    return np.stack(numbers, axis=1) if numbers else np.zeros((len(table), 0))


def _numbers(column: Column) -> Floats:
    """Return the cells; NaN for all where a part of the table has labels (all of its cells may be suppressed)."""
    return column.floats() if isinstance(column, NumericColumn) else np.full(len(column), np.nan)


# Pictures of numbers before and after: quantiles and densities of each column, and how correlations changed.


MOST = 30
"""Columns that get a picture."""
BINS = 24
"""Intervals of a density."""
_SHARES = (0.01, *(i / 20 for i in range(1, 20)), 0.99)


def charts(gathered: GatheredColumns, before: Relations, after: Relations) -> tuple[Chart, ...]:
    """Return lines of quantiles and densities for each column, and a matrix of changes of correlations."""
    columns = range(min(MOST, len(gathered.columns)))
    lines = [c for i in columns for c in (_quantiles(gathered, i), _densities(gathered, i)) if c is not None]
    if len(before.correlation) < 2:
        return tuple(lines)
    names = gathered.columns[: len(before.correlation)]
    change = np.nan_to_num(after.correlation - before.correlation)
    rows = tuple(FigureSeries(name, tuple(map(float, row))) for name, row in zip(names, change, strict=True))
    title = "How correlations of numbers changed"
    return *lines, Chart("correlation_change", title, "matrix", tuple(names), rows, group="association")


def _quantiles(gathered: GatheredColumns, place: int) -> Chart | None:
    mine, theirs = gathered.before.present(place), gathered.after.present(place)
    mean, spread = mean_and_deviation(*mine)
    if not len(theirs[0]) or not spread > 0:
        return None
    series = tuple(
        FigureSeries(name, _scaled(quantiles(*cells, _SHARES), mean, spread))
        for name, cells in (("original", mine), ("released", theirs))
    )
    column = gathered.columns[place]
    return Chart(
        id=f"{column}.quantiles",
        title=f"{column}, quantiles before and after",
        kind="lines",
        x=tuple(f"{100 * share:.0f} %" for share in _SHARES),
        series=series,
        x_label="share of rows",
        y_label="standard deviations from the original's mean",
        group=column,
    )


def _densities(gathered: GatheredColumns, place: int) -> Chart | None:
    """Return the shares of equally wide intervals between the original's 1 % and 99 % quantiles.

    Dropped is what lies beyond: single far values would be seen.
    """
    mine, theirs = gathered.before.present(place), gathered.after.present(place)
    mean, spread = mean_and_deviation(*mine)
    if not theirs[1].sum() > 0 or not spread > 0:
        return None
    low, high = quantiles(*mine, (_SHARES[0], _SHARES[-1]))
    edges = np.linspace(low, high, BINS + 1)
    if not (np.diff(edges) > 0).all():
        return None
    middles = _scaled((edges[:-1] + edges[1:]) / 2, mean, spread)
    series = tuple(
        FigureSeries(name, tuple((np.histogram(cells, edges, weights=weights)[0] / weights.sum()).tolist()))
        for name, (cells, weights) in (("original", mine), ("released", theirs))
    )
    column = gathered.columns[place]
    return Chart(
        id=f"{column}.density",
        title=f"{column}, density before and after",
        kind="lines",
        x=tuple(f"{middle:.2f}" for middle in middles),
        series=series,
        x_label="standard deviations from the original's mean",
        y_label="share of rows",
        note=f"{BINS} intervals of equal width, between the original's 1 % and 99 % quantiles",
        group=column,
    )


def _scaled(values: npt.NDArray[np.float64], mean: float, spread: float) -> tuple[float, ...]:
    return tuple(((values - mean) / spread).tolist())
