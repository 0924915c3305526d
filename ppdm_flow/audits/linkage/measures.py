"""What the figures of `linkage` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "matched": FigureInfo(
        "the share of known people whom some released row fits", "people with a row that fits / people looked up"
    ),
    "linked": FigureInfo("the people whom exactly one released row fits", better="lower"),
    "linked_share": FigureInfo(
        "their share of the people looked up", "people with exactly one row that fits / people looked up", "lower"
    ),
    "learned": FigureInfo(
        "the share of people whom only rows with one sensitive value fit, so that it is theirs if they are released",
        "such people / people looked up; the worst sensitive attribute counts",
        "lower",
    ),
    "precision": FigureInfo(
        "how many of the links to the only row that fits are right",
        "people linked to their own row / people linked",
        "lower",
    ),
    "recall": FigureInfo(
        "the share of the people with a released row who are linked to it",
        "people linked to their own row / people with a released row",
        "lower",
    ),
    "nearest_precision": FigureInfo(
        "how many of the links to the single nearest row are right",
        "people whose single nearest row is theirs / people with a single nearest row",
        "lower",
        "Domingo-Ferrer, Torra, Disclosure risk assessment via record linkage, 2002; Gower, Biometrics 27, 1971",
    ),
    "nearest_recall": FigureInfo(
        "the share of the people with a released row whose single nearest row it is",
        "people whose single nearest row is theirs / people with a released row, in the sample",
        "lower",
        "Domingo-Ferrer, Torra, Disclosure risk assessment via record linkage, 2002; Gower, Biometrics 27, 1971",
    ),
    "guessing": FigureInfo("how often one is right who picks any released row", "1 / released rows"),
}
