"""What the figures of `mondrian` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "ncp": FigureInfo(
        "the normalized certainty penalty: how much of its attribute's range, or domain, a cell"
        " stands for, on average; 0 is the value itself, 1 is a suppressed one",
        formula="interval: width / range of the attribute; set: (values - 1) / (values of the attribute"
        " - 1); label of a hierarchy: the share of the domain that it covers; mean over rows and"
        " attributes",
        better="lower",
        reference="Xu, Wang, Pei, Wang, Shi, Fu, Utility-based anonymization using local recoding, KDD 2006",
    ),
    "classes": FigureInfo("the equivalence classes that the step made", better="higher"),
    "smallest_class": FigureInfo("the rows of the smallest class that the step made", better="higher"),
    "average_class_size": FigureInfo("the rows of a class, on average", formula="rows / classes", better="lower"),
    "discernibility": FigureInfo(
        "the discernibility metric: rows that cannot be told apart, counted for each row",
        formula="sum over classes C of |C|^2",
        better="lower",
        reference="Bayardo, Agrawal, Data privacy through optimal k-anonymization, ICDE 2005",
    ),
    "suppressed_rows": FigureInfo(
        "the rows that the step leaves out: none, ever; for comparison with other steps", better="lower"
    ),
}
