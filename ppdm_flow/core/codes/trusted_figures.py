"""PPF631 to PPF639: figures that hold for a wrong reason."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF631",
        "a value that neither the domain nor the data has",
        "A requirement names a value (`values` of `alpha_k`, `sensitive` of a template or of `lkc`, `values` or"
        " `groups` of `sensitivities`, the `order` of `t_closeness`) that no row of the data has and no declared"
        " `domain` lists. Found where the data is read: `plan --data`, `run`, `audit`, and in tests of policies.",
        "A misspelt value never occurs, so the requirement holds of any data, at 0 %, and the real value is not"
        " protected.",
        "Correct the value. Where it is right and nobody happens to have it, list it in the attribute's `domain:`,"
        " which `check` then holds all requirements against, or say `values_absent: allowed` beside it. A requirement"
        " names values of the source, not those that a step makes of them.",
        bad=(
            "attributes: {diagnosis: {role: sensitive}}\n"
            "privacy:    # the data has no `Mentall`\n"
            "  alpha_k: {diagnosis: {alpha: 0.3, values: [Mentall]}}"
        ),
        good=(
            "attributes: {diagnosis: {role: sensitive}}\n"
            "privacy:    # in some months nobody has it\n"
            "  alpha_k: {diagnosis: {alpha: 0.3, values: [plague], values_absent: allowed}}"
        ),
    ),
    CodePage(
        "PPF632",
        "labels that an attack cannot read",
        "An audit that attacks the release met labels, in the release or in the file that the attacker holds, that are"
        " no value of the original, stand in no hierarchy of the policy, and are not written like an interval, a mask,"
        " a set or a part of a date; where it compares cells as they are written, labels that are nobody's value. A"
        " warning: the audit's figures do not exist then, so that a gate on one of them does not hold.",
        "What an attack cannot read it does not find, and a figure of 0 would say that the release is safe. Somebody"
        " else may well know what `30s` stands for.",
        "Declare the attribute's `hierarchy:` with these labels, write them as intervals, or leave the attribute out"
        " with the audit's `attributes:`, which says that the attacker does not use it.",
        bad=(
            "attributes: {age: {role: quasi_identifier, type: integer}}\n"
            "steps:\n"
            "  bands: {use: recode, with: {attributes: {age: {ranges: {20s: [20, 30], 30s: [30, 40]}}}}}\n"
            "audits: {people: {use: linkage}}\n"
            "gates: {nobody: {metric: people.linked, max: 0}}"
        ),
        good=(
            "attributes:\n"
            "  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 20, 30, 40, 120]}}\n"
            "steps:\n"
            "  bands: {use: generalize, with: {attributes: [age]}}\n"
            "audits: {people: {use: linkage}}\n"
            "gates: {nobody: {metric: people.linked, max: 0}}"
        ),
    ),
)
"""The page of each code."""
