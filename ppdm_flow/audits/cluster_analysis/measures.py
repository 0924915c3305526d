"""What the figures of `cluster_analysis` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "agreement": FigureInfo(
        "how alike the clusters before and after are: 1 the same, 0 as by chance",
        formula="the adjusted Rand index",
        better="higher",
        reference="Hubert, Arabie, Comparing partitions, Journal of Classification 2, 1985",
    ),
    "size_change": FigureInfo(
        "how much the sizes of clusters changed",
        formula="half the sum of the differences of the clusters' shares, by rank of size",
        better="lower",
    ),
    "explained_original": FigureInfo(
        "the share of the variance that the clusters of the original explain",
        formula="1 - sum of squares within clusters / total sum of squares",
    ),
    "explained_released": FigureInfo("the same of the released rows", formula="1 - within / total sum of squares"),
    "class_frequency_change": FigureInfo(
        "the largest change of an attribute's distribution within a class; 0 where every class"
        " has every value as often as before",
        formula="max over classes of `within` and attributes of 1/2 sum |count before - after| / rows of the class",
        better="lower",
    ),
}
