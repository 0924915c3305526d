"""What the figures of `attribute_disclosure` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "risk": FigureInfo(
        "of the guesses that fail on people outside of the data, the share that a person's presence in the data mends",
        formula="(success - control) / (1 - control); the worst attribute counts; it does not exist"
        " without people held out",
        better="lower",
        reference="Giomi, Boenisch, Wehmeyer, Tasnádi, A unified framework for quantifying privacy risk in"
        " synthetic data, PETS 2023",
    ),
    "success": FigureInfo(
        "the share of people in the data whose sensitive value is guessed right from their known"
        " values and the release",
        formula="right guesses / people",
        better="lower",
    ),
    "control": FigureInfo("the same share of people whom the generator held out", formula="right guesses / people"),
    "baseline": FigureInfo(
        "the share that is guessed right as the most frequent value",
        formula="people with the most frequent value / people",
    ),
    "exact_matches": FigureInfo(
        "the share of people whose known values the release has as they are",
        formula="matched people / people",
        better="lower",
    ),
    "smallest_l": FigureInfo(
        "the sensitive values in the least diverse group of released rows that have some person's known values",
        formula="min over groups of their distinct values",
        better="higher",
    ),
    "homogeneous": FigureInfo(
        "of the groups of released rows that have some person's known values, the share with a single sensitive value",
        formula="homogeneous groups / groups",
        better="lower",
    ),
}
