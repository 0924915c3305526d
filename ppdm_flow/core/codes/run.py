"""PPF726 to PPF759: data and runs (reading the data is in ``reading``)."""

from __future__ import annotations

from ppdm_flow.core.codes.reading import PAGES as READING
from ppdm_flow.core.codes.sets import PAGES as SETS
from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    *READING,
    CodePage(
        "PPF726",
        "a value looks like one that a requirement names, and is another",
        "A requirement names a value, and the data has one that differs from it only in letter case,"
        " white space, invisible characters or Unicode form (a letter with its accent as one character or as two).",
        "A reader takes the two for one; the requirement counts only its own, and would hold of a release that breaks"
        " it.",
        "Clean the data, or name every spelling in the requirement. Where both really are values of their own, a"
        " declared `domain:` with both says so.",
        bad=(
            "privacy:\n"
            "  templates:    # the data has `hiv` as well\n"
            "    t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}"
        ),
        good="privacy:\n  templates:\n    t: {channel: [job], sensitive: {disease: [HIV, hiv]}, confidence: 0.5}",
    ),
    CodePage(
        "PPF727",
        "a column looks like a declared one, and only a pattern covers it",
        "The data has two columns whose names differ only in letter case, white space, invisible characters or Unicode"
        " form; one is declared by name, the other falls under a pattern.",
        "What is said of the first would not hold of the second: an identifier could be released under its double.",
        "Declare it under its own name, or take it out of the data.",
        bad='attributes: {name: {role: identifier}, "*": {role: insensitive}}   # the data has `name` and `Name`',
        good='attributes: {name: {role: identifier}, Name: {role: identifier}, "*": {role: insensitive}}',
    ),
    CodePage(
        "PPF728",
        "an identifier is released as it is",
        "A step or another tool replaced the values of an identifier or a subject, and some of them are in the file all"
        " the same.",
        "Whoever reads such a value knows whose row it is; no requirement counts identifiers.",
        "Use `pseudonymize`, or drop the column.",
        bad="$ ppdm-flow audit policy.yaml --original patients.csv --released from-them.csv    # with a few names left",
        good="steps: {mask: {use: pseudonymize, with: {attributes: [name], key_env: KEY}}}",
    ),
    CodePage(
        "PPF730",
        "no space left",
        "The disk, a quota or a limit on file sizes is full.",
        "Nothing was released: a run is moved to its place only when it is complete.",
        "Make room, or choose another place with `--out`.",
        bad=(
            "$ df -h /tmp | tail -1    # nothing is left\n"
            "tmpfs           2.0G  2.0G     0 100% /tmp\n"
            "$ ppdm-flow run policy.yaml --out /tmp/runs"
        ),
        good="$ ppdm-flow run policy.yaml --out /data/runs",
    ),
    CodePage(
        "PPF731",
        "a file cannot be written",
        "The folder for runs is not writable, or a write failed.",
        "A release that is written by half must not be mistaken for a whole one: nothing was released.",
        "Check the folder's permissions, or choose another place with `--out`.",
        bad="$ ppdm-flow run policy.yaml --out /usr/runs    # not as an ordinary user",
        good="$ ppdm-flow run policy.yaml --out ~/runs",
    ),
    CodePage(
        "PPF733",
        "not enough memory",
        "The system refused memory.",
        "Some steps need their whole table; nothing was released.",
        "Use a larger machine, or a step that works row by row.",
        bad="$ ppdm-flow run policy.yaml --workers 16    # on a machine with 2 GB",
        good="$ ppdm-flow run policy.yaml --workers 1 --partition-rows 50000",
    ),
    CodePage(
        "PPF734",
        "the escrow file cannot be made",
        "The file for the key exists already, or its folder does not.",
        "A key that undoes a perturbation must not overwrite anything, nor get lost.",
        "Name a new file in a folder that exists.",
        bad="$ ppdm-flow run policy.yaml --escrow secure/run.key    # the file of the run before",
        good="$ ppdm-flow run policy.yaml --escrow secure/run-2026-11.key",
    ),
    CodePage(
        "PPF736",
        "no operator in the file",
        "The file is no `operator.json` as a release has it, or it describes one attribute twice.",
        "Bounds are judged from the operator; a wrong one would judge wrongly.",
        "Give the `operator.json` that came with the release.",
        bad="$ ppdm-flow reconstruct medical.parquet --operator report.json",
        good="$ ppdm-flow reconstruct medical.parquet --operator operator.json",
    ),
    CodePage(
        "PPF740",
        "a requirement that this data cannot meet",
        "Even the most suppressed table breaks the requirement: a sensitive value is more frequent than the template's"
        " confidence (Wang, Fung, Yu 2005, Lemma 3.3), or there are fewer rows than k.",
        "Steps cannot help: a run would be withheld.",
        "Raise the confidence, or leave the value or the attribute out of the release.",
        bad=(
            "privacy:\n"
            "  templates:    # and 6 % of all rows have HIV\n"
            "    hiv: {channel: [age, job], sensitive: {disease: [HIV]}, confidence: 0.05}"
        ),
        good="privacy:\n  templates:\n    hiv: {channel: [age, job], sensitive: {disease: [HIV]}, confidence: 0.1}",
    ),
    CodePage(
        "PPF741",
        "a value is known too well beforehand",
        "The value's frequency in the data exceeds r2.",
        "Where the prior exceeds r2 no posterior bound can be breached: the requirement says nothing there.",
        "Raise r2 above the frequency, or drop the bound.",
        bad=(
            "privacy:\n"
            "  sensitivities:    # and 30 % of all rows have flu\n"
            "    disease: {values: {flu: {r1: 0.1, r2: 0.25}}}"
        ),
        good="privacy:\n  sensitivities:\n    disease: {values: {flu: {r1: 0.1, r2: 0.5}}}",
    ),
    CodePage(
        "PPF750",
        "not a run's directory",
        "The directory has no `manifest.json`, or a damaged one.",
        "Without it nothing is known of what the files were.",
        "Give the directory that `ppdm-flow run` printed.",
        bad="$ ppdm-flow verify runs    # the folder of all runs",
        good="$ ppdm-flow verify runs/bank/20261121T090000Z-75924a52c386",
    ),
    *SETS,
)
