"""The picture of the distances."""

from __future__ import annotations

import numpy as np

from ppdm_flow.audits.closest_record.closeness import Distances
from ppdm_flow.core.results import Chart, Series

MOST_BARS = 25


def chart(training: Distances, holdout: Distances | None) -> Chart:
    """Return bars: the share of released rows by the number of attributes in which their closest record differs."""
    step = max(1, -(-(training.columns + 1) // MOST_BARS))
    groups = [("training", training)] + ([("holdout", holdout)] if holdout is not None else [])
    last = max(int(d.each.max(initial=0)) for _, d in groups) // step
    series = []
    for name, near in groups:
        bars = np.bincount((np.floor(near.each) // step).astype(np.int64), near.weights, last + 1) / near.size
        series.append(Series(name if holdout is not None else "original", tuple(bars.tolist())))
    names = [str(i) if step == 1 else f"{i * step} to {(i + 1) * step - 1}" for i in range(last + 1)]
    return Chart(
        id="distances",
        title="Distance to the closest record",
        kind="bars",
        x=tuple(names),
        series=tuple(series),
        x_label="attributes that differ",
        y_label="share of released rows",
        note="numbers count by how far they lie apart; distances are rounded down",
    )
