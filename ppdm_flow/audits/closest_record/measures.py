"""What the figures of `closest_record` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "closer_to_training": FigureInfo(
        "the share of released rows that are closer to a row that the generator learned from than"
        " to any that it held out; 50 % if nothing was memorized",
        formula="ties count half; groups of equal size",
        better="lower",
    ),
    "training_p05": FigureInfo(
        "the distance to the closest row learned from, of the twentieth of released rows that is closest",
        formula="the 5 % quantile of the share of attributes that differ",
        better="higher",
    ),
    "training_median": FigureInfo(
        "the same of the middle released row", formula="the median of the share of attributes that differ"
    ),
    "training_copies": FigureInfo(
        "the share of released rows that are equal to a row learned from",
        formula="rows at distance 0 / rows",
        better="lower",
    ),
    "holdout_p05": FigureInfo(
        "the same quantile, to rows held out: what is normal without memory",
        formula="the 5 % quantile of the share of attributes that differ",
    ),
    "holdout_median": FigureInfo(
        "the median distance to rows held out", formula="the median of the share of attributes that differ"
    ),
    "holdout_copies": FigureInfo(
        "the share of released rows that are equal to a row held out: what chance gives",
        formula="rows at distance 0 / rows",
    ),
}
