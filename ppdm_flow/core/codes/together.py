"""PPF540, PPF541, PPF845: what the releases of one run tell together."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_TWO = (
    "attributes: {patient: {role: identifier}, age: {role: quasi_identifier}, sex: {role: quasi_identifier}}\n"
    "privacy: {k_anonymity: {k: 5}}\n"
    "steps:\n"
    "  ids: {use: pseudonymize, with: {attributes: [patient], key_file: one.key}}\n"
    "  ages: {use: drop, input: ids, with: {attributes: [sex]}}\n"
    "  sexes: {use: drop, input: %s, with: {attributes: [age]}}\n"
    "%s"
    "releases:\n"
    "  by-age: {from: ages, path: by-age.csv}\n"
    "  by-sex: {from: sexes, path: by-sex.csv}"
)
"""Two releases of the same people."""
_OTHER_KEY = "  others: {use: pseudonymize, input: source, with: {attributes: [patient], key_file: two.key}}\n"

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF540",
        "two releases with one pseudonym",
        "Two releases have a column that is made of the same attribute under the same key. A warning.",
        "Whoever has both joins their rows by it, and sees each person with the columns of both. So requirements on"
        " groups are judged on the joined table as well, and two releases of k = 5 are often one of k = 1.",
        "Drop the column from one of the releases, or make it under another key there. Where nobody ever sees both,"
        " say `recipients: apart`: the report says so, and nothing can measure it.",
        bad=_TWO % ("ids", ""),
        good=_TWO % ("others", _OTHER_KEY),
    ),
    CodePage(
        "PPF541",
        "a public release for recipients that are apart",
        "The policy says `recipients: apart`, has several releases, and one of them is public.",
        "`apart` says that nobody sees two of the releases. Everybody can get the public one, and so can whoever has"
        " another one of them.",
        "Leave `recipients` out: then the releases are judged together. Or give the release another `audience`.",
        bad="recipients: apart\nreleases:\n  open: {path: open.csv, audience: public}\n  study: {path: study.csv}",
        good="recipients: apart\nreleases:\n  one: {path: one.csv, audience: partner}\n  study: {path: study.csv}",
    ),
    CodePage(
        "PPF845",
        "few people in common over several releases",
        "The releases of the run leave groups of people that are smaller than the k that the policy asks of each. A"
        " warning.",
        "Whoever knows in which class of one release a person is, and in which class of another, finds the person among"
        " those who are in both: each release may be k-anonymous, and the intersection hold one person.",
        "Ask for `privacy: {cumulative_k: {k: …}}`, which withholds such releases and needs no ledger for those of one"
        " run. Release one table in place of two, or make the classes of one the unions of those of the other.",
        bad="privacy: {k_anonymity: {k: 5}}\nreleases:\n  one: {path: one.csv}\n  two: {path: two.csv}",
        good="privacy: {k_anonymity: {k: 5}, cumulative_k: {k: 5}}\n"
        "releases:\n  one: {path: one.csv}\n  two: {path: two.csv}",
    ),
)
