"""What the figures of `corruption` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "worst_posterior": FigureInfo(
        "the highest belief in a sensitive value of one who sees the release and corrupted nobody",
        formula="max over classes and values of the value's share; with an operator, over values and"
        " released ones of P(value | released)",
        better="lower",
    ),
    "worst_after_corruption": FigureInfo(
        "the highest belief of one who knows the true values of others as well",
        formula="the same, with others' rows taken out",
        better="lower",
    ),
    "certain": FigureInfo(
        "the share of rows whose sensitive value is certain without corruption",
        formula="rows with posterior 1 / rows",
        better="lower",
    ),
    "certain_after_corruption": FigureInfo(
        "the share of rows whose sensitive value is certain to one who knows the others",
        formula="rows with posterior 1 / rows",
        better="lower",
    ),
    "exposure": FigureInfo(
        "the highest probability with which a release shows a person's own value because it was kept",
        formula="max over values that occur of their retention probability, / the rows that a released"
        " value is drawn from (`sampled`)",
        better="lower",
    ),
    "independence_p": FigureInfo(
        "how well the released value of a row is independent of other rows' values, as it must"
        " be for corruption to tell nothing; small is bad",
        formula="a bound (Bennett) on the probability of such deviations among neighbouring rows, by two"
        " tests together (Bonferroni)",
        better="higher",
    ),
}
