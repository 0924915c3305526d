"""What the figures of `fine_grain_perturbation` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "record_utility": FigureInfo(
        "the share of records that are expected to keep their value",
        formula="sum over values v of f_v (p_v + (1 - p_v) / m): f the frequencies, p the retention"
        " probabilities, m the values of the domain",
        better="higher",
    ),
    "uniform_record_utility": FigureInfo(
        "the share of records that would keep their value if all values had one retention probability",
        formula="the same with the largest p that all bounds allow for every value",
        better="higher",
    ),
    "lowest_retention": FigureInfo(
        "the lowest probability with which a value is kept rather than drawn anew",
        formula="min over values of p_v",
        better="higher",
        audience="public",
    ),
    "highest_retention": FigureInfo(
        "the highest such probability", formula="max over values of p_v", better="higher", audience="public"
    ),
    "general_record_utility": FigureInfo(
        "the most records that any perturbation at all could keep under the same bounds: the"
        " ceiling for `record_utility`",
        formula="a linear program over all matrices P(y | v) that keep the bounds",
        better="higher",
    ),
    "restriction_cost": FigureInfo(
        "what the fine-grain form gives away",
        formula="`general_record_utility` minus the greatest record utility of the fine-grain form",
        better="lower",
    ),
    "expected_reconstruction_error": FigureInfo(
        "how far the frequencies that a recipient reconstructs are expected to lie from the original ones",
        formula="sqrt(trace(P^-1 Cov(y) P^-T)) / n: y the released counts of n rows; the root of the"
        " expected squared distance of the shares",
        better="lower",
    ),
    "uniform_expected_reconstruction_error": FigureInfo(
        "the same error if all values had one retention probability", formula="the same formula", better="lower"
    ),
    "record_expected_reconstruction_error": FigureInfo(
        "the same error of the operator that is best for single records (`objective: record`)",
        formula="the same formula",
        better="lower",
    ),
    "aggregate_expected_reconstruction_error": FigureInfo(
        "the same error of the operator that is best for frequencies (`objective: aggregate`)",
        formula="the same formula",
        better="lower",
    ),
    "aggregate_gap": FigureInfo(
        "what the search for that operator may have left to gain",
        formula="the greatest decrease of the squared error that its gradient sees within the bounds, as"
        " a share of that error; 0 at a local optimum",
        better="lower",
    ),
    "shadow_price": FigureInfo(
        "what the bound of a value costs: how many more records would keep their value if its r2 were 0.01 higher",
        formula="0.01 times the derivative of the greatest `record_utility` by the value's r2, at the"
        " margin; where raising and lowering differ, that of raising, with both as interval",
        better="lower",
    ),
}
