"""What the figures of `anonymity_score` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "nas": FigureInfo(
        "the Normalised Anonymity Score: how many original rows occur in the release, the rarer"
        " the more they count; 0: none, 1: all",
        formula="NAS = AS(release, original) / AS(original, original)",
        better="lower",
    ),
    "as": FigureInfo(
        "the Anonymity Score of the release against the original",
        formula="sum over supports s of 1/s times the share of the original's distinct rows of support s"
        " that the release has",
        better="lower",
    ),
    "as_of_original": FigureInfo(
        "the highest score that is possible: the original against itself",
        formula="sum over the supports s that occur of 1/s",
    ),
    "distinct": FigureInfo("the distinct rows of the original"),
    "found": FigureInfo("those of them that occur in the release", better="lower"),
    "alone": FigureInfo("the rows that occur once in the original"),
    "alone_found": FigureInfo("those of them that occur in the release", better="lower"),
}
