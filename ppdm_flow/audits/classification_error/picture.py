"""The picture of the classification errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppdm_flow.core.results import Chart, Series

NAMES = {"base": "original", "suppressed": "released", "removed": "original, sensitive removed"}


def chart(found: Mapping[str, tuple[float, tuple[float, float] | None]], target: str, removed: Sequence[str]) -> Chart:
    """Return bars with interval ends."""
    shown = [n for n in NAMES if n in found]
    means = tuple(found[n][0] for n in shown)
    ends = [found[n][1] for n in shown]
    low = tuple(e[0] for e in ends if e is not None)
    high = tuple(e[1] for e in ends if e is not None)
    return Chart(
        id="errors",
        title=f"Error of predicting {target}",
        kind="bars",
        x=tuple(NAMES[n] for n in shown),
        series=(Series("error", means, low, high),),
        y_label="share of wrong predictions",
        note=f"removed: {', '.join(removed)}" if removed else "",
    )
