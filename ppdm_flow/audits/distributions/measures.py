"""What the figures of `distributions` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "total_variation": FigureInfo(
        "how far a column's shares moved; 0 is unchanged",
        formula="1/2 sum |p - q| over the values' shares p before and q after; of a generalized column"
        " at the released level",
        better="lower",
    ),
    "suppressed": FigureInfo(
        "the share of a column's cells that are suppressed", formula="suppressed cells / cells", better="lower"
    ),
    "mean_total_variation": FigureInfo(
        "that distance, on average over the columns", formula="mean of 1/2 sum |p - q|", better="lower"
    ),
    "largest_total_variation": FigureInfo(
        "that distance in the column that changed most", formula="max of 1/2 sum |p - q|", better="lower"
    ),
    "suppressed_cells": FigureInfo(
        "the share of cells that are suppressed, on average over the columns",
        formula="mean of suppressed cells / cells",
        better="lower",
    ),
    "mean_association_change": FigureInfo(
        "how much the association of two columns changed, on average over pairs",
        formula="mean of |V after - V before|, Cramér's V",
        better="lower",
    ),
    "largest_association_change": FigureInfo(
        "how much it changed in the pair that changed most", formula="max of |V after - V before|", better="lower"
    ),
}
