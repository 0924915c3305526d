"""What the figures of `perturbation_utility` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "expected_record_utility": FigureInfo(
        "the share of rows that are expected to keep their value",
        formula="sum over values v of f_v (p_v + (1 - p_v) / m)",
        better="higher",
    ),
    "record_utility": FigureInfo(
        "the share of rows that did keep their value", formula="equal rows / rows", better="higher"
    ),
    "inverse_aggregate_utility": FigureInfo(
        "how well the operator's inverse reconstructs the original frequencies; 1 is exactly",
        formula="1 - 1/2 sum |estimated - original share|; without an attribute's name the mean over attributes",
        better="higher",
    ),
    "aggregate_utility": FigureInfo(
        "how well maximum likelihood reconstructs the original frequencies; 1 is exactly",
        formula="1 - 1/2 sum |estimated - original share|; without an attribute's name the mean over attributes",
        better="higher",
    ),
}
