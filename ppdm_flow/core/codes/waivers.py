"""PPF330 to PPF338, PPF685 and PPF686: waivers."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_GOOD = (
    "waivers:\n  small-study:\n    of: gates.still-useful\n    reason: agreed with the study until the new extract\n"
    "    owner: dpo@bank.example\n    until: 2027-03-31"
)

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF330",
        "a waiver of nothing",
        "`of` names no requirement and no gate of the policy, no code, and no hash of a finding; or `at` stands beside"
        " something that is no code.",
        "A waiver that is misspelt would waive nothing, and nobody would know before the release is withheld.",
        "Name the id as reports show it, a code, or the sixteen digits that a report gives beside a finding.",
        bad="waivers:\n  small-study: {of: gates.stil-useful, reason: agreed, owner: dpo, until: 2027-03-31}",
        good=_GOOD,
    ),
    CodePage(
        "PPF331",
        "a waiver without a date",
        "`until` is no date of the form YYYY-MM-DD.",
        "A waiver without an end would be a rule that nobody agreed to.",
        "Write the last day that it is to count on.",
        bad="waivers:\n  small-study: {of: gates.useful, reason: agreed, owner: dpo, until: next spring}",
        good=_GOOD,
    ),
    CodePage(
        "PPF332",
        "a waiver for too long",
        "`until` lies more than a year from today.",
        "What is waived for years is no exception: then the policy itself says the wrong thing.",
        "Choose a day within a year, or change what is asked for.",
        bad="waivers:\n  small-study: {of: gates.useful, reason: agreed, owner: dpo, until: 2099-12-31}",
        good=_GOOD,
    ),
    CodePage(
        "PPF333",
        "an expired waiver",
        "The last day of the waiver is over, in UTC. `check` goes by the day that it runs on, and so does `run`.",
        "It was agreed for a time. Left alone it would be for ever.",
        "Mend what it waives and remove it; or agree anew with its owner, and write another day.",
        bad="waivers:\n  small-study: {of: gates.useful, reason: agreed, owner: dpo, until: 2020-03-31}",
        good=_GOOD,
    ),
    CodePage(
        "PPF334",
        "a waiver without a reason or an owner",
        "`reason` or `owner` is blank.",
        "Whoever reads the report has to know why the data left all the same, and whom to ask.",
        "Say why in a sentence, and name someone who answers for it.",
        bad='waivers:\n  small-study: {of: gates.useful, reason: "", owner: dpo, until: 2027-03-31}',
        good=_GOOD,
    ),
    CodePage(
        "PPF335",
        "a waiver of privacy that no template allows",
        "It is about something under `privacy:` (a requirement, a gate on its figure, a warning about it), or about a"
        " gate that a template's floor holds, and no template that the policy extends allows that.",
        "Privacy is promised to people who are not asked. Only whoever answers for all policies can say that a promise"
        " may be broken for a while; a policy cannot say so of itself.",
        "Meet the requirement. Or let a template say `floors: {waivers.privacy: allowed}`.",
        bad="waivers:\n  small-groups: {of: privacy.k_anonymity, reason: rare, owner: dpo, until: 2027-03-31}",
        good="# templates/organization.yaml: floors: {waivers.privacy: allowed}\n"
        "extends: ./templates/organization.yaml\n"
        "waivers:\n  small-groups: {of: privacy.k_anonymity, reason: rare, owner: dpo, until: 2027-03-31}",
    ),
    CodePage(
        "PPF336",
        "something that cannot be waived",
        "The waiver is of an error, of a fault of the program, of what is wrong with waivers, or of `ledger.repeat`.",
        "With an error the policy has no meaning, so nobody can say what would be released. Several draws of one value"
        " tell what no bound covers.",
        "Mend what is wrong. Warnings can be waived, and what is measured and lies beyond its bound.",
        bad="waivers:\n  again: {of: ledger.repeat, reason: agreed, owner: dpo, until: 2027-03-31}",
        good="ledger: {path: releases.ledger, subject: patient, repeat: warn}",
    ),
    CodePage(
        "PPF337",
        "a waiver of a warning that there is not",
        (
            "The policy waives a warning, and no warning of that code is raised, or none at that place."
            " This is a warning itself."
        ),
        "Left alone it would cover the next one, which nobody has looked at.",
        "Remove the waiver, or correct its `of` and `at` if another warning is meant.",
        bad="waivers:\n  old: {of: PPF551, at: attributes.rating, reason: agreed, owner: dpo, until: 2027-03-31}",
        good=_GOOD,
    ),
    CodePage(
        "PPF338",
        "waived twice",
        "Two waivers are of the same thing.",
        "One would outlast the other, with another reason and another owner, and reports could show but one of them.",
        "Keep the one that its owner stands by, and remove the other.",
        bad="waivers:\n  one: {of: gates.useful, reason: agreed, owner: dpo, until: 2027-03-31}\n"
        "  two: {of: gates.useful, reason: agreed again, owner: me, until: 2027-06-30}",
        good=_GOOD,
    ),
    CodePage(
        "PPF685",
        "a waiver that covers nothing",
        "In this run nothing needed the waiver: what it is of holds, was not found, or failed in a way that cannot be"
        " waived (it could not be measured or verified, or is an error). A finding, shown in the report.",
        "A waiver that is not needed hides the next failure before anyone has looked at it.",
        "Remove it, once it is not needed any more.",
        bad="waivers:\n  small-study: {of: gates.useful, reason: agreed, owner: dpo, until: 2027-03-31}  # it holds",
        good="gates:\n  useful: {metric: classifier.error_increase, max: 0.05}",
    ),
    CodePage(
        "PPF686",
        "a waiver that expired during the run",
        "Its last day was over when the verdict was due, so it covers nothing. A finding, shown in the report.",
        "What counts is the day on which the data would leave.",
        "Agree anew with its owner, or mend what it waives.",
        bad="$ ppdm-flow run policy.yaml    # begun at 23:50 UTC on a waiver's last day, and judged after midnight",
        good=(
            "waivers:\n"
            "  small-study: {of: gates.useful, reason: agreed anew on 30 March, owner: dpo, until: 2027-06-30}"
        ),
    ),
)
