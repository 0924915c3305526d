"""The share of the largest contributors in the totals, as a chart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.requirements.dominance.reading import DominanceGroups
from ppdm_flow.requirements.dominance.requirement import Dominance

_BARS = 10


def pictures(requirement: Dominance, side: DominanceGroups) -> Iterator[Chart]:
    """Yield how many groups have which share; none where no group has a total."""
    share = side.each.share[side.each.some]
    if not len(share):
        return
    place = np.clip((share * _BARS).astype(np.int64), 0, _BARS - 1)
    who = "largest contributor" if requirement.n == 1 else f"{requirement.n} largest contributors"
    at = "" if requirement.share is None else f"At most {requirement.share:.1%} is allowed. "
    yield Chart(
        id=f"{requirement.id}.by_share",
        title=f"Groups by the share of the {who} in the total of `{requirement.attribute}`",
        kind="bars",
        x=tuple(f"{i / _BARS:.0%} to {(i + 1) / _BARS:.0%}" for i in range(_BARS)),
        series=(FigureSeries("groups", tuple(int(c) for c in np.bincount(place, minlength=_BARS))),),
        x_label="share of the total",
        y_label="groups",
        note=f"{at}Groups whose total is 0 are not shown.",
        group="dominance",
    )
