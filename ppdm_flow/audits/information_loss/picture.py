"""Pictures of numbers before and after: quantiles and densities of each column, and how correlations changed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.information_loss.gathering import GatheredColumns
from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.mining.utility.numbers import Relations, mean_and_deviation, quantiles

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
