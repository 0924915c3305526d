"""Pictures of numbers before and after: quantiles of each column, and how correlations changed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.information_loss.gathering import Gathered
from ppdm_flow.core.results import Chart, Series
from ppdm_flow.mining.utility.numbers import Relations, mean_and_deviation, quantiles

MOST = 30
"""Columns that get a picture."""
_SHARES = (0.01, *(i / 20 for i in range(1, 20)), 0.99)


def charts(gathered: Gathered, before: Relations, after: Relations) -> tuple[Chart, ...]:
    """Return lines of quantiles for each column, and a matrix of changes of correlations."""
    lines = [c for i in range(min(MOST, len(gathered.columns))) if (c := _quantiles(gathered, i)) is not None]
    if len(before.correlation) < 2:
        return tuple(lines)
    names = gathered.columns[: len(before.correlation)]
    change = np.nan_to_num(after.correlation - before.correlation)
    rows = tuple(Series(name, tuple(map(float, row))) for name, row in zip(names, change, strict=True))
    title = "How correlations of numbers changed"
    return *lines, Chart("correlation_change", title, "matrix", tuple(names), rows, group="association")


def _quantiles(gathered: Gathered, place: int) -> Chart | None:
    mine, theirs = gathered.before.present(place), gathered.after.present(place)
    mean, spread = mean_and_deviation(*mine)
    if not len(theirs[0]) or not spread > 0:
        return None
    series = tuple(
        Series(name, _scaled(quantiles(*cells, _SHARES), mean, spread))
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


def _scaled(values: npt.NDArray[np.float64], mean: float, spread: float) -> tuple[float, ...]:
    return tuple(((values - mean) / spread).tolist())
