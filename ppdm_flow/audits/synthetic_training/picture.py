"""The picture of both errors."""

from __future__ import annotations

from ppdm_flow.core.results import Chart, Series

Estimate = tuple[float, tuple[float, float]]


def chart(real: Estimate, synthetic: Estimate, target: str) -> Chart:
    """Return bars with interval ends."""
    found = (real, synthetic)
    low, high = tuple(reach[0] for _, reach in found), tuple(reach[1] for _, reach in found)
    return Chart(
        id="errors",
        title=f"Error of predicting {target} for real rows",
        kind="bars",
        x=("learned from real rows", "learned from the release"),
        series=(Series("error", tuple(mean for mean, _ in found), low, high),),
        y_label="share of wrong predictions",
    )
