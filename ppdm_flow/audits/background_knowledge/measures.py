"""What the figures of `background_knowledge` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "certain": FigureInfo(
        "the share of rows whose sensitive value is certain to one who can rule out as many others as `excludes` says",
        formula="rows of classes with at most excludes + 1 values / rows",
        better="lower",
    ),
    "certain_uninformed": FigureInfo(
        "the same without that knowledge", formula="rows of classes with one value / rows", better="lower"
    ),
    "worst_posterior": FigureInfo(
        "the highest belief in a value of one who can rule out as many others",
        formula="max over classes of the most frequent value's share once the next frequent ones are ruled out",
        better="lower",
    ),
    "worst_posterior_uninformed": FigureInfo(
        "the same without that knowledge", formula="max over classes of the most frequent value's share", better="lower"
    ),
}
