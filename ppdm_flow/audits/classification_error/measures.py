"""What the figures of `classification_error` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "base": FigureInfo(
        "the error of a classifier that learned from the original data (the papers' BE)",
        formula="wrong predictions / rows of the test part, mean over splits",
    ),
    "suppressed": FigureInfo(
        "the error of one that learned from the released data (the papers' SE)",
        formula="the same, of released rows",
        better="lower",
    ),
    "removed": FigureInfo(
        "the error of one that learned without the sensitive attributes (the papers' RE)",
        formula="the same, without these columns",
    ),
    "error_increase": FigureInfo(
        "how much more a classifier errs on the released data", formula="suppressed - base (SE - BE)", better="lower"
    ),
}
