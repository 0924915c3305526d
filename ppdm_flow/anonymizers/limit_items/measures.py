"""What the figures of `limit_items` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "longer": FigureInfo("the sets with more items than `max`"),
    "empty": FigureInfo("the sets without items, before the step"),
    "longest": FigureInfo("the items of the largest set, before the step"),
    "discarded": FigureInfo("the sets that the step leaves out", better="lower"),
    "discarded_share": FigureInfo("their share of all sets", formula="discarded / sets", better="lower"),
    "truncated": FigureInfo("the sets of which the step leaves items out", better="lower"),
    "items_lost": FigureInfo("the occurrences of items that go no further", better="lower"),
    "shorter": FigureInfo("the sets with fewer items than `min`"),
    "left_out": FigureInfo("the items that no set has any more, as they are named or too rare"),
    "left_out_occurrences": FigureInfo("how often they occurred", better="lower"),
}
