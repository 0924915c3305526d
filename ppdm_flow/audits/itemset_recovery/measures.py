"""What the figures of `itemset_recovery` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "recovered": FigureInfo(
        "of the itemsets that are frequent in the original, the share that mining the release finds",
        formula="true positives / frequent",
        better="higher",
    ),
    "genuine": FigureInfo(
        "of the itemsets that mining the release finds, the share that is frequent in the original",
        formula="true positives / found",
        better="higher",
    ),
    "interval_coverage": FigureInfo(
        "of the frequent itemsets' 95 % intervals, the share that holds the true support",
        formula="intervals with the true support / intervals",
        better="higher",
    ),
    "largest_itemset": FigureInfo(
        "the items of the largest itemsets that were looked for in the release", better="higher"
    ),
    "frequent": FigureInfo("the itemsets of so many items that are frequent in the original"),
    "true_positives": FigureInfo("those of them that mining the release finds", better="higher"),
    "false_drops": FigureInfo("those of them that it does not find", better="lower"),
    "false_positives": FigureInfo(
        "the itemsets of so many items that it finds, and that are not frequent", better="lower"
    ),
    "worst_false_positive": FigureInfo(
        "the least true support of an itemset that it finds",
        formula="min over the itemsets that are found of their support in the original; where some are not frequent",
        better="higher",
    ),
    "support_error": FigureInfo(
        "how far estimated supports lie from the true ones",
        formula="root mean square of estimated less true support, over the frequent itemsets",
        better="lower",
    ),
}
