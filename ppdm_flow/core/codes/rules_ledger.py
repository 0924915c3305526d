"""PPF590 to PPF594: the release ledger in a policy."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF590",
        "cumulative k of a single release",
        "`privacy.cumulative_k` is asked for, the policy has one release, or says that nobody sees two, and no"
        " `ledger`.",
        "It is about several releases together: those of a run, and with a ledger those of other runs. Without one"
        " nobody knows of other ones.",
        "Add `ledger: {path: …}`, the same file for all policies that release data of the same people.",
        bad="privacy: {cumulative_k: {k: 5}}",
        good="ledger: {path: releases.ledger, subject: patient}\nprivacy: {cumulative_k: {k: 5}}",
    ),
    CodePage(
        "PPF591",
        "a ledger that knows no people",
        "Neither `ledger.subject` nor an attribute with `role: subject` says whose rows are released.",
        "Without that nobody is found again in earlier releases, and what several of them tell together is not known."
        " An error where `cumulative_k` is asked for, else a warning.",
        "Name an attribute with `role: identifier` or `role: subject`. It is neither released nor stored: the ledger"
        " holds keyed hashes. Where nobody is named in the data, the audit `complementary_release` intersects this"
        " release with the file of an earlier one.",
        bad="ledger: {path: releases.ledger}",
        good="ledger: {path: releases.ledger, subject: patient}",
    ),
    CodePage(
        "PPF592",
        "a subject that names nobody",
        "`ledger.subject` is an attribute that is neither an identifier nor the subject.",
        "People who share a value would be taken for one, and groups be counted too small or too large.",
        "Name the attribute that tells people apart, with `role: identifier` or `role: subject`.",
        bad="attributes: {city: {role: quasi_identifier}}\nledger: {path: releases.ledger, subject: city}",
        good="attributes: {patient: {role: identifier}}\nledger: {path: releases.ledger, subject: patient}",
    ),
    CodePage(
        "PPF593",
        "people in a collapsed table",
        "An attribute has `role: weight`, and the ledger is to find people again.",
        "A row with a weight stands for several people, of whom it can name one at most.",
        "Release a table with a row for each person, or leave the ledger's `subject` out.",
        bad="attributes: {n: {role: weight}, patient: {role: identifier}}\nledger: {path: l.db, subject: patient}",
        good="attributes: {patient: {role: identifier}}\nledger: {path: l.db, subject: patient}",
    ),
    CodePage(
        "PPF594",
        "repeated randomization allowed",
        "`ledger.repeat: warn` lets randomized attributes of the same people be released again.",
        "Two draws multiply their likelihood ratios: a bound on each is none on both, and no figure says what is left.",
        "Say `repeat: refuse`, and hand out the first release again.",
        bad=(
            "ledger: {path: releases.ledger, subject: patient, repeat: warn}\n"
            "attributes: {patient: {role: identifier}, disease: {role: sensitive, domain: [HIV, flu]}}\n"
            "privacy: {sensitivities: {disease: {default: {r1: 0.3, r2: 0.7}}}}\n"
            "steps: {perturb: {use: fine_grain_perturbation}}"
        ),
        good=(
            "ledger: {path: releases.ledger, subject: patient}\n"
            "attributes: {patient: {role: identifier}, disease: {role: sensitive, domain: [HIV, flu]}}\n"
            "privacy: {sensitivities: {disease: {default: {r1: 0.3, r2: 0.7}}}}\n"
            "steps: {perturb: {use: fine_grain_perturbation}}"
        ),
    ),
)
