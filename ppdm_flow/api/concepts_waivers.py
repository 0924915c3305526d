"""Waivers and the lock: what need not hold for a while, and what must not change unseen."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept

_SECTIONS = "Sections of a policy"

WAIVER_CONCEPTS: Mapping[str, Concept] = {
    "waivers": Concept(
        _SECTIONS,
        "what need not hold for a while: each with a reason, an owner and a last day, at most a year from today",
        "`of` is a gate (`gates.NAME`), a requirement (`privacy.NAME`, as reports write it), a code (`PPFnnn`, with"
        " `at:` at one place of the policy), or the hash that a report gives beside a finding. A gate or requirement"
        " that fails and is waived does not withhold the release: the verdict says `released under waivers`. It is"
        " measured all the same, drawn in amber, and counted apart, in every form of the report and in the manifest. A"
        " warning that is waived does not count under `--strict`. `until` is the last day, in UTC: `check` goes by the"
        " day it runs on, `run` by the day it starts and by that of its verdict. An expired waiver is an error (1 from"
        " `check`, 2 from `run`), one that covers nothing a warning or a finding; `verify` says which of a run's"
        " waivers have expired since.\n\n"
        "What stands under `privacy:`, gates on its figures, and gates that a template's floor holds can be waived only"
        " where a template that the policy extends says `floors: {waivers.privacy: allowed}`: the policy cannot allow"
        " it to itself. Never waived are errors, faults of the program, figures that could not be measured or verified"
        " or on which two routes disagree, and `ledger.repeat`. Policy tests count waivers as a run does; a sweep shows"
        " what is measured, without them.",
        "waivers:\n  small-study:\n    of: gates.still-useful\n    reason: agreed with the study until June\n"
        "    owner: dpo@bank.example\n    until: 2027-03-31",
        why="Exceptions are made in every house. Written down, with an end, they are seen in every review and in every"
        " report; made by editing a bound, they stay for ever.",
        bad="# no end, nobody who answers for it, and a promise to people that no template lets one break\n"
        'waivers:\n  small-groups: {of: privacy.k_anonymity, reason: "", owner: "", until: 2099-12-31}',
        fix="Mend what the waiver is of, and remove it. Or agree anew, and write the new day where reviewers see it.",
    ),
}
