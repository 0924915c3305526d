"""PPF881 to PPF884: local recoding, microaggregation and suppression."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF881",
        "the whole table breaks a requirement",
        "Even with all rows in one class, and nothing told of their quasi-identifiers, a requirement does not hold: the"
        " table has fewer rows than k, or too few sensitive values.",
        "Every class of a partition would break it too.",
        "Ask for less, or do not release a table of so few rows.",
        bad="privacy: {k_anonymity: {k: 50}}    # and the table has 40 rows\nsteps:\n  recode: {use: mondrian}",
        good="privacy: {k_anonymity: {k: 5}}\nsteps:\n  recode: {use: mondrian}",
    ),
    CodePage(
        "PPF882",
        "cells that cannot be averaged",
        "A group of rows becomes its mean, median or most frequent value. Missing and suppressed cells have none, and"
        " texts without an order are compared one by one, which many distinct ones do not bear.",
        "An average over some of a group's rows would not stand for the others.",
        "`source.incomplete_rows: drop`, a `type` or an order for the attribute, or leave it to another step.",
        bad=(
            "source: {path: patients.csv}    # some heights are missing\n"
            "steps:\n"
            "  average: {use: microaggregation, with: {attributes: [height]}}"
        ),
        good=(
            "source: {path: patients.csv, incomplete_rows: drop}\n"
            "steps:\n"
            "  average: {use: microaggregation, with: {attributes: [height]}}"
        ),
    ),
    CodePage(
        "PPF883",
        "groups were looked for in slices",
        "Microaggregation takes time quadratic in the distinct rows, so more than `most` of them are first sorted along"
        " their first principal axis and cut.",
        "Groups are as large as promised; rows on both sides of a cut could have been nearer to each other.",
        "Nothing to fix. Raise `most` if the time is there.",
        bad="steps:    # of 100,000 distinct rows\n  average: {use: microaggregation, with: {most: 1000}}",
        good="steps:\n  average: {use: microaggregation, with: {most: 100000}}",
    ),
    CodePage(
        "PPF884",
        "rows that suppressed cells do not protect",
        "A few rows are unlike all others: even with all cells of their quasi-identifiers suppressed they would be a"
        " class of fewer than k rows, so the step dropped them.",
        "Fewer rows leave than came, though only cells were to be suppressed.",
        "Nothing to fix, if the loss is small. Generalize first, so that fewer classes are too small.",
        bad="steps:\n  few: {use: suppress, with: {small: cells}}",
        good=(
            "attributes: {age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30,"
            " 60, 120]}}}\n"
            "steps:\n"
            "  coarsen: {use: generalize, with: {attributes: {age: {}}}}\n"
            "  few: {use: suppress, with: {small: cells}}"
        ),
    ),
)
