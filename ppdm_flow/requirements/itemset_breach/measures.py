"""What the figures of `itemset_breach` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "worst_posterior": FigureInfo(
        "the highest probability of an item of the original set, given an itemset seen in its released version",
        formula="max over itemsets A of the sizes and items z of P(z in t | A in R(t))",
        better="lower",
    ),
    "prior_of_worst": FigureInfo(
        "how probable that item is before anything is seen", formula="share of the original sets with it"
    ),
    "released_with_worst": FigureInfo("the released sets that hold the worst itemset"),
    "measured": FigureInfo(
        "the same probability counted over original and released sets: its interval should hold the computed one",
        formula="sets with the item / sets whose released version holds the itemset, with the interval of"
        " Clopper and Pearson",
    ),
    "within": FigureInfo(
        "the worst probability of an item of the itemset itself, for itemsets of so many items",
        formula="max of P(z in t | A in R(t)), z in A",
        better="lower",
    ),
    "beside": FigureInfo(
        "the worst probability of an item outside of the itemset, for itemsets of so many items",
        formula="max of P(z in t | A in R(t)), z not in A",
        better="lower",
    ),
    "paper": FigureInfo(
        "the same of the paper's privacy-challenging itemset, whose parts have all maximal supports at once",
        formula="the KDD 2002 paper, section 4.2",
        better="lower",
    ),
    "larger": FigureInfo(
        "the worst probability for itemsets of one item more than the policy names",
        formula="the same maximum",
        better="lower",
    ),
    "absence": FigureInfo(
        "the worst probability of an item where a released set has no item of the itemset",
        formula="max of P(z in t | no item of A in R(t))",
        better="lower",
    ),
    "knowing": FigureInfo(
        "the worst probability for one who knows so many other items of the set",
        formula="the same maximum, given these items",
        better="lower",
    ),
    "rest": FigureInfo(
        "what no itemset that was not counted can exceed", formula="a bound from the counted supports", better="lower"
    ),
    "bound": FigureInfo(
        "what no data whose supports keep the policy's maxima can exceed",
        formula="max of P(z in t | A in R(t)) over all partial supports within the maxima: linear-fractional programs",
        better="lower",
    ),
    "fit": FigureInfo(
        "how well the released bytes fit the operator; below the stated error they are taken for others",
        formula="a bound on the probability of released sets as unlikely as these; all tests together",
        better="higher",
    ),
    "itemsets": FigureInfo("the itemsets that were counted"),
    "epsilon": FigureInfo(
        "the local differential privacy for one item replaced by another",
        formula="max ln(P(y | t) / P(y | t')) over t, t' that differ in one item",
        better="lower",
    ),
}
