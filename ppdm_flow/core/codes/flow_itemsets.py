"""PPF578: sets that nothing has randomized."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF578",
        "an itemset requirement without a randomization",
        "`privacy.itemset_breach` is there, and a release holds sets that no step has randomized. A warning.",
        "The requirement is judged from the operator that randomized the sets; without one it cannot hold, and every"
        " run is withheld.",
        "Add a `randomize_transactions` step before the release.",
        bad=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "releases: {study: {path: study.parquet}}    # the sets as they are"
        ),
        good=(
            "attributes: {basket: {role: items}}\n"
            "privacy: {itemset_breach: {level: 0.5}}\n"
            "steps: {randomize: {use: randomize_transactions}}\n"
            "releases: {study: {path: study.parquet}}"
        ),
    ),
)
