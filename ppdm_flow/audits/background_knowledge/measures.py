"""What the figures of `background_knowledge` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "certain": FigureInfo(
        "the share of rows whose sensitive value is certain to one who can rule out as many others as `excludes` says",
        formula="rows of classes with at most excludes + 1 values, none of them missing / rows",
        better="lower",
    ),
    "certain_uninformed": FigureInfo(
        "the same without that knowledge", formula="rows of classes with one value, in all rows / rows", better="lower"
    ),
    "worst_posterior": FigureInfo(
        "the highest belief in a value of one who can rule out as many others",
        formula="max over classes and values v of n_v / (n - n_1 - ... - n_L): n the rows of the class,"
        " n_1 to n_L those of its L = `excludes` most frequent other values",
        better="lower",
    ),
    "worst_posterior_uninformed": FigureInfo(
        "the same without that knowledge", formula="max over classes and values v of n_v / n", better="lower"
    ),
}
