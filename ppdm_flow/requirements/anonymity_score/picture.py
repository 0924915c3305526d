"""Which original rows occur in the release, by how many people share them."""

from __future__ import annotations

import numpy as np

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.mining.anonymity.scores import MatchedSupports
from ppdm_flow.sdk.audit import AuditContext

_EDGES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000, 10_000)


def charts(score: MatchedSupports, ctx: AuditContext) -> tuple[Chart, ...]:
    """Return the share of distinct original rows that occur in the release, in at most eleven ranges of supports."""
    if not len(score.supports):
        return ()
    place = np.searchsorted(np.array(_EDGES), score.supports, side="right") - 1
    rows = np.bincount(place, weights=score.distinct, minlength=len(_EDGES))
    seen = np.bincount(place, weights=score.matched, minlength=len(_EDGES))
    there = np.flatnonzero(rows)
    name = next((f"{r.id}." for r in ctx.requirements), "anonymity_score.")
    shares = FigureSeries("occur in the release", tuple(float(seen[i] / rows[i]) for i in there))
    return (
        Chart(
            id=f"{name}by_support",
            title="Original rows that occur in the release, by support",
            kind="bars",
            x=tuple(_label(int(i)) for i in there),
            series=(shares,),
            x_label="people who share the row",
            y_label="share of different rows",
            note=f"different original rows, from left to right: {', '.join(f'{int(rows[i]):,}' for i in there)}",
            group="anonymity_score",
        ),
    )


def _label(place: int) -> str:
    low = _EDGES[place]
    if place + 1 == len(_EDGES):
        return f"{low:,}+"
    high = _EDGES[place + 1] - 1
    return f"{low:,}" if low == high else f"{low:,}\N{EN DASH}{high:,}"
