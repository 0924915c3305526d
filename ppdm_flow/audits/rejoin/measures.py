"""What the figures of `rejoin` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "posterior_bound": FigureInfo(
        "how sure one can be of the value of a person whose class one knows, from both files",
        formula="max over classes and sensitive attributes of the most frequent value's share",
        better="lower",
    ),
    "classes": FigureInfo("the classes that join the files", better="higher"),
    "joined_tuples": FigureInfo(
        "the rows of the join of both files by their key",
        formula="sum over classes of the product of their rows in either file",
        better="higher",
    ),
    "spurious_tuples": FigureInfo(
        "the rows of the join that are of no person", formula="joined_tuples - rows", better="higher"
    ),
    "rows_alone": FigureInfo("the rows whose class the other file does not have", better="lower"),
    "homogeneous_rows": FigureInfo(
        "the rows of classes in which all have one value, added up over the sensitive attributes", better="lower"
    ),
    "guessed": FigureInfo(
        "the share of people whose value is guessed right as the likeliest of their class",
        formula="right guesses / people; of the attribute that is guessed best",
        better="lower",
    ),
    "guessed_without": FigureInfo(
        "the same where the most frequent value of all is guessed, without any release",
        formula="right guesses / people",
    ),
    "linked_by_order": FigureInfo(
        "the share of people whose value is guessed right by laying the files side by side",
        formula="right guesses / people; of the attribute that is guessed best",
        better="lower",
    ),
    "same_order": FigureInfo(
        "the share of places at which the files have the same class: by chance if both are shuffled",
        formula="equal places / rows",
        better="lower",
    ),
}
