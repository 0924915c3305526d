"""What the figures of `blend` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "share": FigureInfo(
        "of the released rows that are rare in the release, the share that is rare in the original too",
        formula="rare_in_both / rare_released; 0 where no released row is rare",
        better="lower",
    ),
    "rare_released": FigureInfo("the released rows whose support in the release is below the minimum"),
    "rare_in_both": FigureInfo(
        "those of them that occur in the original with a support below the minimum", better="lower"
    ),
    "from_rare": FigureInfo(
        "all released rows that occur in the original with a support below the minimum", better="lower"
    ),
    "rare_original": FigureInfo("the original rows with a support below the minimum"),
    "rare_original_found": FigureInfo("those of them that the release has", better="lower"),
}
