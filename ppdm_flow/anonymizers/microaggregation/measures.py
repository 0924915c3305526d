"""What the figures of `microaggregation` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "information_loss": FigureInfo(
        "the share of the variance that is lost by replacing values by those of their group",
        formula="SSE / SST: sums of squares around means, within groups and in all, of standardized"
        " values, added up over attributes",
        better="lower",
    ),
    "groups": FigureInfo("the groups that were formed", better="higher"),
    "smallest_group": FigureInfo(
        "the rows of the smallest group", formula="min over groups of their rows", better="higher"
    ),
    "average_group": FigureInfo("the rows of a group, on average", formula="rows / groups", better="lower"),
    "slices": FigureInfo("the parts into which a large table was cut before groups were formed in each"),
}
