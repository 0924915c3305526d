"""What the figures of `class_sizes` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "classes": FigureInfo("the equivalence classes over the quasi-identifiers", better="higher", audience="public"),
    "smallest": FigureInfo("the rows of the smallest class", formula="min |C|", better="higher", audience="public"),
    "median": FigureInfo("the size of the middle one of all classes, by size", better="higher", audience="public"),
    "mean": FigureInfo("the mean size of a class", formula="rows / classes", better="higher", audience="public"),
    "mean_of_a_row": FigureInfo(
        "the size of the class that a row drawn at random is in, on average",
        formula="sum |C|^2 / rows",
        better="higher",
        audience="public",
    ),
    "largest": FigureInfo("the rows of the largest class", formula="max |C|", audience="public"),
    "uniques": FigureInfo("the rows that are alone in their class", better="lower", audience="public"),
}
