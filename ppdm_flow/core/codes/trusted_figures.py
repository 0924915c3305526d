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
)
"""The page of each code."""
