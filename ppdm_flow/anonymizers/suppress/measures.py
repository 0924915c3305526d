"""What the figures of `suppress` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "rare_cells": FigureInfo("the cells with a value rarer than `rare` asks for", better="lower"),
    "rows_at_risk": FigureInfo("the rows that were in classes smaller than k", better="lower"),
    "suppressed_cells": FigureInfo(
        "the cells that the step replaced by ⊥ for the sake of classes, in rows that stay", better="lower"
    ),
    "suppressed_rows": FigureInfo("the rows that the step leaves out", better="lower"),
    "suppressed_share": FigureInfo(
        "the share of the rows that the step leaves out", formula="suppressed rows / rows", better="lower"
    ),
    "ncp": FigureInfo(
        "the normalized certainty penalty: the share of cells that classes cost; those that were"
        " too rare are counted apart",
        formula="(suppressed cells of rows that stay + all cells of rows left out) / all cells",
        better="lower",
        reference="Xu, Wang, Pei, Wang, Shi, Fu, Utility-based anonymization using local recoding, KDD 2006",
    ),
    "classes": FigureInfo("the equivalence classes that the step made", better="higher"),
    "smallest_class": FigureInfo("the rows of the smallest class that the step made", better="higher"),
    "average_class_size": FigureInfo("the rows of a class, on average", formula="rows / classes", better="lower"),
    "discernibility": FigureInfo(
        "the discernibility metric: rows that cannot be told apart, counted for each row",
        formula="sum over classes C of |C|^2, and all rows for each row left out",
        better="lower",
        reference="Bayardo, Agrawal, Data privacy through optimal k-anonymization, ICDE 2005",
    ),
}
