"""Where the released rows come from: original rows that many share, few share, or none."""

from __future__ import annotations

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.mining.anonymity.scores import BlendCounts
from ppdm_flow.requirements.blend.sentences import of


def charts(blend: BlendCounts, support: SupportBound, prefix: str) -> tuple[Chart, ...]:
    """Return the shares of rare and of all other released rows, by their support in the original."""
    sides = (blend.absent, blend.rare, blend.common)
    totals = [sum(side[i] for side in sides) for i in (0, 1)]
    series = tuple(
        FigureSeries(f"{name} ({total:,})", tuple(side[i] / total for side in sides))
        for i, (name, total) in enumerate(zip(("rare in the release", "not rare there"), totals, strict=True))
        if total
    )
    if not series:
        return ()
    return (
        Chart(
            id=f"{prefix or 'blend.'}by_origin",
            title=f"Released rows that occur in the original: rare below {of(support)}",
            kind="bars",
            x=("in no row", "rare there", "frequent there"),
            series=series,
            x_label="in the original",
            y_label="share of released rows",
            group="blend",
        ),
    )
