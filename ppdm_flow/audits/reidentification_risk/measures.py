"""What the figures of `reidentification_risk` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "prosecutor_highest": FigureInfo(
        "the highest risk of one whom an attacker knows to be in the data", formula="1 / smallest class", better="lower"
    ),
    "prosecutor_average": FigureInfo("the mean of that risk over the rows", formula="classes / rows", better="lower"),
    "prosecutor_at_risk": FigureInfo(
        "the share of rows whose risk is above `threshold`",
        formula="rows with 1 / |C| > threshold / rows",
        better="lower",
    ),
    "prosecutor_at_highest": FigureInfo(
        "the share of rows that have the highest risk", formula="rows of smallest classes / rows", better="lower"
    ),
    "journalist_highest": FigureInfo(
        "the highest risk of one whom an attacker only knows to be in the `population`",
        formula="1 / fewest people that fit a class",
        better="lower",
    ),
    "journalist_average": FigureInfo(
        "the mean of that risk over the rows", formula="mean over rows of 1 / people that fit", better="lower"
    ),
    "journalist_at_risk": FigureInfo(
        "the share of rows whose journalist risk is above `threshold`",
        formula="rows with 1 / people > threshold / rows",
        better="lower",
    ),
    "marketer_average": FigureInfo(
        "the share of rows that a linkage of the whole release is expected to get right",
        formula="mean over rows of 1 / people that fit",
        better="lower",
    ),
}
