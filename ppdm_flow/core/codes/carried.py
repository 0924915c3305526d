"""PPF836 to PPF839: what released columns tell of attributes under other names."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF836",
        "paired rows that are not those of the file",
        "A requirement is measured on released rows beside their originals, and the rows that a step gave for this are"
        " not those that it gave for the file.",
        "Then nothing says whose rows the file holds. The run stops and releases nothing.",
        "Report it to the author of the step's plugin: a step gives the same rows whenever it is asked.",
        bad="$ ppdm-flow run policy.yaml    # with a plugin that draws from a generator of its own",
        good="$ ppdm-flow run policy.yaml    # with a plugin that draws from the draws it is given",
    ),
    CodePage(
        "PPF837",
        "mixed columns where missing values are wildcards",
        "A released column is computed from quasi-identifiers and a sensitive attribute (a class id over both), and"
        " the policy says `nulls: wildcard`. The requirement is not verified, so the release is withheld.",
        "Who shares such a cell with somebody depends on the quasi-identifiers behind it; where a missing one may be"
        " any value, nobody can say whose crowd a row is in.",
        "Say `nulls: own_category`, or leave the sensitive attribute out of what the column is computed from.",
        bad="nulls: wildcard\nsteps:\n  ids: {use: assign_class_id, with: {attributes: [age, disease], name: class}}",
        good="nulls: wildcard\nsteps:\n  ids: {use: assign_class_id, with: {attributes: [age], name: class}}",
    ),
    CodePage(
        "PPF838",
        "cells that only a run could decode",
        "A file is judged without the run that made it, and some of its columns hold other cells than their attributes"
        " had: the cells count as they are. A warning. It is about columns of sensitive attributes, and those that are"
        " computed from several attributes; a quasi-identifier under coarser labels forms the same classes either way.",
        "Which values are behind a label, a suppressed cell or a class id is known by pairing released rows with their"
        " originals, and only the run that made the file can do that. A value under a new name is not found here.",
        "Judge by the report of the run that made the file, or let `ppdm-flow run` make it.",
        bad="$ ppdm-flow audit policy.yaml --original patients.csv --released from-them.csv",
        good="$ ppdm-flow run policy.yaml",
    ),
    CodePage(
        "PPF839",
        "a column that no population can be compared with",
        "`k_map` counts the people of a population whom released labels fit, and a released column is computed from"
        " several quasi-identifiers (a class id), or hides one behind a key. The release is withheld.",
        "Such a cell tells classes apart, and nothing says which people of the population it fits.",
        "Drop the column, or keep the quasi-identifiers out of what it is computed from.",
        bad=(
            "privacy:\n"
            "  k_map: {k: 5, attributes: [age, zip], population: {path: voters.csv}}\n"
            "steps:\n"
            "  ids: {use: assign_class_id, with: {attributes: [age, zip], name: class}}"
        ),
        good=(
            "privacy:\n"
            "  k_map: {k: 5, attributes: [age, zip], population: {path: voters.csv}}\n"
            "steps:\n"
            "  coarse: {use: generalize, with: {attributes: {zip: {prefix: 2}}}}"
        ),
    ),
)
