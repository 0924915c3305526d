"""What the figures of `singling_out` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "success": FigureInfo(
        "the share of conditions that fit exactly one released row, and exactly one person in the data as well;"
        " of an unchanged copy all, and 0 where no condition fits one released row only",
        formula="fitting guesses / guesses",
        better="lower",
    ),
    "control": FigureInfo(
        "the share of the same guesses that fit exactly one person outside of the data",
        formula="fitting guesses / guesses",
    ),
    "baseline": FigureInfo(
        "the share of guesses of a naive attacker, who has no release, that fit exactly one person",
        formula="fitting guesses / guesses",
    ),
    "risk": FigureInfo(
        "of the guesses that fail on people outside of the data, the share that a person's presence in the data mends",
        formula="(success - control) / (1 - control); without a control group, against the baseline",
        better="lower",
        reference="Giomi, Boenisch, Wehmeyer, Tasnádi, A unified framework for quantifying privacy risk in"
        " synthetic data, PETS 2023",
    ),
}
