"""What the figures of `itemset_comparison` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "equal_itemsets": FigureInfo(
        "of the itemsets that are frequent in the original, the share that is frequent in the release too",
        formula="equal / frequent in the original",
        better="higher",
    ),
    "support_difference": FigureInfo(
        "how much the support of equal itemsets moved, on average",
        formula="mean |support after - support before|, shares of rows",
        better="lower",
    ),
    "support_difference_p95": FigureInfo(
        "what the supports of 19 of 20 equal itemsets moved by at most", formula="the 95 % quantile", better="lower"
    ),
    "support_difference_highest": FigureInfo(
        "what the support of any equal itemset moved by at most", formula="the maximum", better="lower"
    ),
    "chance_difference": FigureInfo(
        "the mean difference of two samples of such sizes from one population: what chance gives",
        formula="mean of E|difference| by the binomial law",
    ),
    "new_support": FigureInfo(
        "the support of itemsets that only the release has, on average",
        formula="mean of their shares of released rows",
        better="lower",
    ),
    "lost_support": FigureInfo(
        "the support of itemsets that only the original has, on average",
        formula="mean of their shares of original rows",
        better="lower",
    ),
    "original_itemsets": FigureInfo("the frequent itemsets of the original"),
    "released_itemsets": FigureInfo("the frequent itemsets of the release"),
}
