"""PPF689, PPF735, PPF737 and PPF843: the release ledger in a run."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF689",
        "a release that stays in the ledger",
        "`ppdm-flow ledger --forget` names a release that is not pending, or whose run is in its folder.",
        "What was released cannot be taken back, so the ledger does not forget it.",
        "Leave it. `--repair` confirms a pending release whose run is there.",
        bad="$ ppdm-flow ledger releases.ledger --forget 1    # released long ago",
        good="$ ppdm-flow ledger releases.ledger --repair",
    ),
    CodePage(
        "PPF735",
        "a ledger that cannot be used",
        "The release ledger is damaged, of another version, or no ledger; or its key is missing or of another ledger.",
        "Without the ledger nobody can say what this and earlier releases tell together, so nothing is released.",
        "Put back a whole copy of the ledger and its key, both of which belong together. Only where there never was a"
        " release, remove both to begin anew.",
        bad="$ rm releases.ledger && ppdm-flow run policy.yaml    # its key is still there",
        good="$ cp backup/releases.ledger* . && ppdm-flow run policy.yaml",
    ),
    CodePage(
        "PPF737",
        "released rows of nobody",
        "Released rows have no value for the attribute that the ledger's `subject` names.",
        "The ledger could not say of such a row whose it is, and what earlier releases tell of that person.",
        "Drop such rows, or name another attribute as `subject`.",
        bad="ledger: {path: releases.ledger, subject: second_id}",
        good="ledger: {path: releases.ledger, subject: patient}",
    ),
    CodePage(
        "PPF843",
        "generated releases that are not compared",
        "The ledger has releases of generated rows. They are left out of the intersection with earlier releases.",
        "Generated rows are nobody's, so nobody is in one of their classes.",
        "Nothing: their own requirements say what they tell.",
        bad=(
            "attributes: {patient: {role: identifier}, age: {role: quasi_identifier}}\n"
            "ledger: {path: releases.ledger, subject: patient}    # a release of generated rows is in it\n"
            "privacy: {cumulative_k: {k: 5}}"
        ),
        good=(
            "steps:    # in the policy of the generated rows: what bounds them\n"
            "  generate: {use: krimp_generator, with: {holdout: 0.2}}\n"
            "privacy: {blend: {min_support: {count: 20}, max: 0.03}}"
        ),
    ),
)
