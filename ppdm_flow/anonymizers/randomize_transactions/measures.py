"""What the figures of `randomize_transactions` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "transactions": FigureInfo("the sets that were randomized"),
    "alphabet": FigureInfo("the items that a randomized set may hold", audience="public"),
    "longest": FigureInfo("the items of the largest original set"),
    "alone_by_size": FigureInfo(
        "the sets whose size, which is released beside each of them, no other set has",
        better="lower",
    ),
    "items_kept": FigureInfo(
        "of the items in a randomized set's original, the share that is expected to be still there",
        formula="sum over sets of E[kept items] / sum over sets of their items",
        better="higher",
    ),
    "items_released": FigureInfo(
        "the items of a randomized set, on average",
        formula="mean over sets of the kept items and rho (alphabet - size) others; of the set's own"
        " size, where the operator fills it up",
        better="lower",
    ),
    "bytes": FigureInfo("the size of the released sets, uncompressed", better="lower", audience="public"),
    "epsilon": FigureInfo(
        "the local differential privacy for one item replaced by another",
        formula="max ln(P(y | t) / P(y | t')) over t, t' that differ in one item",
        better="lower",
        audience="public",
    ),
    "lowest_support": FigureInfo(
        "the least support of itemsets of so many items that can be discovered in the release",
        formula="the support s that is four standard errors of its own estimate",
        better="lower",
    ),
    "sigma": FigureInfo(
        "the standard error of the estimated support of an itemset of so many items of which no set has any",
        formula="the root of the sum over sets of the estimator's variance, / sets",
        better="lower",
    ),
    "level": FigureInfo(
        "the worst probability of an item, given itemsets of so many items",
        formula="max over items and itemsets within the maximal supports of P(z in t | A in R(t))",
        better="lower",
    ),
}
