"""What the figures of `krimp_dissimilarity` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "dissimilarity": FigureInfo(
        "how differently the code tables of the original and of the release compress each other's rows; 0 is alike",
        formula="DS = max of of_original and of_release",
        better="lower",
    ),
    "of_original": FigureInfo(
        "how much longer the original's rows are under the release's code table",
        formula="(size under the release's - size under its own) / size under its own, of encoded rows",
        better="lower",
    ),
    "of_release": FigureInfo(
        "how much longer the released rows are under the original's code table",
        formula="the same, the other way round",
        better="lower",
    ),
    "internal": FigureInfo(
        "the dissimilarity of random halves of the original: what chance gives",
        formula="mean DS of halves against the original",
    ),
    "uncorrelated": FigureInfo(
        "the dissimilarity of data with the original's values, each drawn by itself: what no pattern at all gives",
        formula="DS of such data",
    ),
    "uncorrelated_ratio": FigureInfo(
        "how many times as dissimilar as the release such data are: the more, the more patterns are kept",
        formula="uncorrelated / dissimilarity",
        better="higher",
    ),
}
