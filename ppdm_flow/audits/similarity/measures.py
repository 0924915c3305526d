"""What the figures of `similarity` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "similar": FigureInfo(
        "the share of rows in classes whose sensitive values have one label above them in the attribute's hierarchy",
        formula="rows of such classes / rows; the worst sensitive attribute counts",
        better="lower",
    ),
    "similar_rows": FigureInfo("those rows, counted", better="lower"),
    "similar_classes": FigureInfo("the classes of such rows", better="lower"),
    "same": FigureInfo(
        "the share of rows in classes with one sensitive value", formula="rows of such classes / rows", better="lower"
    ),
    "by_chance": FigureInfo(
        "the share that would be similar if the values were dealt to the rows at random",
        formula="expected rows of such classes / rows",
    ),
}
