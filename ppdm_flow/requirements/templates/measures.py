"""What the figures of `templates` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo
from ppdm_flow.mining.classes.measures import LACKING, REPEATED

FIGURES: Mapping[str, FigureInfo] = {
    "confidence": FigureInfo(
        "the largest share of a sensitive value in a group over the template's channel: what one could infer",
        formula="max over groups g of |rows of g with the value| / |g|",
        better="lower",
    ),
    "together_confidence": FigureInfo(
        "the same where the values of each group are those that all releases of the run leave possible",
        formula="max over combinations of groups that some person has",
        better="lower",
    ),
    "confidence_before": FigureInfo("the same in the original", formula="the same"),
    "inferences": FigureInfo(
        "the (group, value) pairs over the channel whose confidence goes beyond the template's", better="lower"
    ),
    "inferences_before": FigureInfo("as many in the original"),
    "violating_groups": FigureInfo(
        "the groups over the channel from which more can be inferred than the template allows", better="lower"
    ),
    "violating_groups_before": FigureInfo("as many in the original"),
    "violating_rows": FigureInfo("the rows in these groups", better="lower"),
    "violating_rows_before": FigureInfo("as many in the original"),
    "smallest_group": FigureInfo(
        "the rows of the smallest group over the channel, where the template gives a `min_support`",
        formula="min |g|",
        better="higher",
    ),
    "together_smallest_group": LACKING,
    "smallest_group_before": FigureInfo("the same in the original", formula="min |g|"),
    "repeated": REPEATED["repeated"],
}
