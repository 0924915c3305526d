"""The picture of the support differences."""

from __future__ import annotations

import numpy as np

from ppdm_flow.core.results import Chart, Series
from ppdm_flow.mining.comparison.patterns import PatternComparison

EDGES = (0.0, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)


def chart(compared: PatternComparison) -> tuple[Chart, ...]:
    """Return bars: the share of equal itemsets by how far their support moved; none where there are no equal ones."""
    moved = compared.differences
    if not len(moved):
        return ()
    place = np.clip(np.searchsorted(EDGES, moved, side="left") - 1, 0, len(EDGES) - 2)
    shares = np.bincount(place, minlength=len(EDGES) - 1) / len(moved)
    used = int(np.flatnonzero(shares)[-1]) + 1
    names = [f"up to {100 * edge:g} %" for edge in EDGES[1:]]
    bars = Chart(
        id="differences",
        title="How far the supports of equal itemsets moved",
        kind="bars",
        x=tuple(names[:used]),
        series=(Series("equal itemsets", tuple(shares[:used].tolist())),),
        x_label="difference of supports, of the rows",
        y_label="share of equal itemsets",
    )
    return (bars,)
