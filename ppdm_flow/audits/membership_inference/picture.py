"""The picture of the attacks."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.audits.membership_inference.ranking import Area
from ppdm_flow.core.results import Chart, Series


def chart(areas: Mapping[str, Area]) -> Chart:
    """Return bars: the area under the curve of each attack, with its interval."""
    found = list(areas.values())
    ends = [a.interval for a in found]
    low, high = tuple(e[0] for e in ends), tuple(e[1] for e in ends)
    return Chart(
        id="attacks",
        title="How well members are told from others",
        kind="bars",
        x=tuple(areas),
        series=(Series("area under the curve", tuple(a.value for a in found), low, high),),
        y_label="pairs in which the member scores higher",
        note="50 % is guessing",
    )
