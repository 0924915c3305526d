"""PPF687, PPF689, PPF735, PPF737, PPF843 and PPF911 to PPF915: the release ledger in a run."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF687",
        "a ledger that is not to be made or written like this",
        "`ppdm-flow ledger --create` is given where there is a ledger already, or no folder for it; or something is to"
        " be written to a ledger, or checked, without its key.",
        "A ledger is made once. Each of its entries carries a hash that nobody makes without the key.",
        "Leave `--create` out where there is a ledger. Give the key with `--key FILE`; of a ledger in a file it is"
        " found beside it, with `.key` added.",
        bad="$ ppdm-flow ledger postgresql://releases@db.example/ledger --repair",
        good="$ ppdm-flow ledger postgresql://releases@db.example/ledger --key releases.key --repair",
    ),
    CodePage(
        "PPF689",
        "a release that stays in the ledger",
        "`ppdm-flow ledger --forget` names a release that is not pending, or whose run is in its folder.",
        "What was released cannot be taken back, so the ledger does not forget it.",
        "Leave it. `--repair` confirms a pending release whose run is there, and drops one that never was published.",
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
        bad="$ rm releases.ledger.key && ppdm-flow run policy.yaml",
        good="$ cp backup/releases.ledger.key . && ppdm-flow run policy.yaml",
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
    CodePage(
        "PPF911",
        "no ledger where the policy expects one",
        "The policy names a `ledger`, and there is none at that place. A run never makes one by the way.",
        "A ledger that is gone, misspelt, or looked for on another machine would be taken for one in which nothing was"
        " released so far.",
        "Make it once, with `ppdm-flow ledger FILE --create` (`--key FILE` where the policy says `key`). If there was"
        " one, put back its latest copy with its key.",
        bad="$ ppdm-flow run policy.yaml    # ledger: {path: releases.ledger, subject: patient}, and no such file",
        good="$ ppdm-flow ledger releases.ledger --create\n$ ppdm-flow run policy.yaml",
    ),
    CodePage(
        "PPF912",
        "a ledger that was changed by something else",
        "An entry of the ledger was changed, moved, put in or taken out by something else than this program. Each entry"
        " carries a keyed hash that covers the entry before; the message names the first one that does not fit.",
        "What is not in the ledger any more is not counted against new releases: nothing is released.",
        "Put back the latest whole copy, and find out who wrote to the ledger. A copy that is too old is found out as"
        " PPF913.",
        bad="$ sqlite3 releases.ledger 'DELETE FROM release WHERE number = 3'",
        good="$ cp backup/releases.ledger . && ppdm-flow ledger releases.ledger --runs runs",
    ),
    CodePage(
        "PPF913",
        "a ledger that is older than a run",
        "A run in the folder of the policy's runs was judged with this ledger when it had entries that it does not have"
        " now: it is an older copy, or another one that went its own way. The manifest of each run names the last entry"
        " that it saw.",
        "Releases that the copy does not know are out, and would not be counted. A chain shows what was changed within"
        " a ledger; that the whole is an old copy only those who saw a later one can tell. Where the runs that came"
        " after the copy are gone as well, or lie elsewhere and are not looked at, nothing tells.",
        "Put back the latest copy. `ppdm-flow ledger LEDGER --runs FOLDER` holds all runs below a folder against it; do"
        " that after every restore, with every folder that runs were made in.",
        bad="$ cp backup/last-year/releases.ledger . && ppdm-flow run policy.yaml",
        good="$ cp backup/today/releases.ledger . && ppdm-flow ledger releases.ledger --runs runs",
    ),
    CodePage(
        "PPF914",
        "people told apart in two ways",
        "Releases in the ledger tell people apart by other spellings of their ids than the policy does: their"
        " `ledger.ignore` differ.",
        "`P-17 ` of one release and `p-17` of the next would be taken for two people, and what both tell of the one"
        " would go unnoticed.",
        "Say the same `ledger.ignore` in every policy that uses the ledger; a template can hold it.",
        bad="ledger: {path: releases.ledger, subject: patient, ignore: []}    # earlier releases ignored case",
        good="ledger: {path: releases.ledger, subject: patient}",
    ),
    CodePage(
        "PPF915",
        "ids of one person in several spellings",
        "The data has ids that differ only in what `ledger.ignore` names (case, blanks around them, Unicode form). Each"
        " is counted as one person, in the ledger and in what is asked of successive releases.",
        "To take one person for two hides what releases tell together; to take two for one can only withhold more.",
        "Nothing, if they are one person. Where spellings do tell people apart, name what may be ignored:"
        " `ignore: [blanks, form]`.",
        bad="ledger: {path: releases.ledger, subject: patient}    # the data has P-17 and p-17, two people",
        good="ledger: {path: releases.ledger, subject: patient, ignore: [blanks, form]}",
    ),
)
