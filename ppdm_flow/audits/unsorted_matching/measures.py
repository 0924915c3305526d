"""What the figures of `unsorted_matching` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "agreement": FigureInfo(
        "the share of places at which the released row fits the original row of the same place,"
        " in the attribute that tells most",
        formula="fitting places / rows",
        better="lower",
    ),
    "by_chance": FigureInfo("the share that fits if the rows are shuffled", formula="expected fitting places / rows"),
    "rank_correlation": FigureInfo(
        "whether rows of the release come in the order of the original's; 0 if they are shuffled",
        formula="Spearman's rank correlation of places",
        better="lower",
    ),
    "p_value": FigureInfo(
        "how probable so much order is in shuffled rows, by all tests together; small is bad",
        formula="the smallest of all tests' p-values times their number (Bonferroni)",
        better="higher",
    ),
}
