"""What analyses of numbers lose: cells, moments, quantiles, distributions and correlations, before and after.

Everything is measured a second time between two random halves of the original: so much is sampling alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.information_loss.gathering import GatheredColumns, gather, linked
from ppdm_flow.audits.information_loss.picture import charts
from ppdm_flow.audits.information_loss.spec import InformationLossParams
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.mining.utility.numbers import NumericCells, Relations, column_losses, eigenvalue_change, il1s, relations
from ppdm_flow.mining.utility.sides import compared_columns
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

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
