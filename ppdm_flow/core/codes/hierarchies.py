"""PPF130 to PPF132: hierarchies made from data."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF130",
        "no such column to make a hierarchy of",
        "The data has no column of this name, or the column has no values.",
        "A hierarchy holds every value of its attribute.",
        "Correct `--attribute`. Where the file has no header or a delimiter of its own, give the policy that says so"
        " with `--policy`.",
        bad="$ ppdm-flow hierarchy patients.csv --attribute agee --by intervals --width 5",
        good="$ ppdm-flow hierarchy patients.csv --attribute age --by intervals --width 5",
    ),
    CodePage(
        "PPF131",
        "a way that lacks something",
        "Each way to make a hierarchy needs options of its own: intervals their `--edges` or `--width`, prefixes"
        " `--keep`, dates `--units`, orders `--fanout` or `--then`, frequencies `--at-least`.",
        "What is left out would have to be guessed, and a hierarchy decides what is released.",
        "Give the options that the message names, and none of another way.",
        bad="$ ppdm-flow hierarchy patients.csv --attribute zip --by prefix",
        good="$ ppdm-flow hierarchy patients.csv --attribute zip --by prefix --keep 4,3,2",
    ),
    CodePage(
        "PPF132",
        "values that do not fit the hierarchy to be made",
        "Some values have no place in the order that was given, or the label of rare values is itself a value.",
        "A value without a place could not be generalized, and a label that is a value would say something untrue.",
        "Name all values with `--values`, or take another `--label`.",
        bad=(
            "$ ppdm-flow hierarchy visits.csv --attribute pain --by order --values none,mild --fanout 2 "
            "   # `strong` occurs, too"
        ),
        good="$ ppdm-flow hierarchy visits.csv --attribute pain --by order --values none,mild,strong --fanout 2",
    ),
)
