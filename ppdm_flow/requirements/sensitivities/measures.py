"""What the figures of `sensitivities` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "margin": FigureInfo(
        "how far the worst posterior lies beyond what (r1, r2) allows; at 0 or below it holds",
        formula="max over bounds of posterior - r2 upward and, unless `directions: upward`, r1 -"
        " posterior downward; over all priors",
        better="lower",
    ),
    "worst_upward": FigureInfo(
        "the highest posterior that any prior of at most r1 can come to, of the bound that it"
        " exceeds by most or comes closest to",
        formula="r1 p / (r1 p + (1 - r1) q): p the probability that the value is released as itself, q"
        " the least with which another one is released as it",
        better="lower",
    ),
    "worst_downward": FigureInfo(
        "the lowest posterior that any prior of at least r2 can fall to, of the bound that it"
        " falls below by most or comes closest to",
        formula="min over released y of r2 P(y|v) / (r2 P(y|v) + (1 - r2) max P(y|v')), v' the other values",
        better="higher",
    ),
    "upward_margin": FigureInfo(
        "how far the worst upward posterior lies beyond r2; at 0 or below it holds",
        formula="max over bounds of posterior - r2",
        better="lower",
    ),
    "downward_margin": FigureInfo(
        "how far the worst downward posterior lies beyond r1; at 0 or below it holds",
        formula="max over bounds of r1 - posterior",
        better="lower",
    ),
    "highest_at_own_prior": FigureInfo(
        "the highest posterior of one who knows the true frequencies, by the operator",
        formula="Bayes' theorem with the original's frequencies as prior",
        better="lower",
    ),
    "lowest_at_own_prior": FigureInfo(
        "the lowest posterior of one who knows the true frequencies, by the operator",
        formula="the same",
        better="higher",
    ),
    "measured_at_own_prior": FigureInfo(
        "the same posterior counted over pairs of original and released rows, with an interval:"
        " it should hold what `highest_at_own_prior` says",
        formula="pairs with both values / rows with the released one",
    ),
    "values_off_prediction": FigureInfo(
        "the values whose counted posterior has an interval without the predicted one: a few by"
        " chance, many if the bytes do not follow the operator",
        better="lower",
    ),
    "recovered_from_seed": FigureInfo(
        "the share of rows whose original value the seed in the policy gives back: anything but"
        " `sealed` randomness undoes the perturbation",
        formula="rows given back / rows",
        better="lower",
    ),
    "epsilon": FigureInfo(
        "the local differential privacy of the operator; the lower, the more private",
        formula="max ln(P(y | v) / P(y | v'))",
        better="lower",
        audience="public",
    ),
    "p_value": FigureInfo(
        "how well the released bytes fit the operator: if below one in a million, they are taken for others",
        formula="the probability of pairs of values, or of frequencies, as unlikely as these under the"
        " operator; all tests together (Bonferroni)",
        better="higher",
    ),
    "outside_cells": FigureInfo("the released cells that the operator cannot have made", better="lower"),
}
