"""PPF9xx: defects, of ppdm-flow or of a plugin. Nothing is ever released after one of them."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_REPORT = "Please report it, with the code and the line that the message names; it holds no data."

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF901",
        "a plugin failed",
        "A step, an audit, a source or a sink raised an error of its own.",
        (
            "What it would have done or measured is missing, so nothing is released. Its own message is"
            " not shown: it may quote data."
        ),
        _REPORT,
        bad="$ ppdm-flow run policy.yaml    # ends with PPF901 and the plugin's name",
        good="$ PPDM_LOG=debug ppdm-flow run policy.yaml 2> failed.txt    # where in the plugin; no data"
        " values\n"
        "$ ppdm-flow doctor >> failed.txt    # report this file to the plugin's author",
    ),
    CodePage(
        "PPF902",
        "two routes disagree",
        "A figure came out differently when it was computed a second time in another way.",
        "One of the two is wrong, so the guarantee is not known.",
        _REPORT,
        bad="$ ppdm-flow run policy.yaml    # ends with PPF902; the release is not made",
        good=(
            "$ PPDM_LOG=debug ppdm-flow run policy.yaml 2> disagree.txt    # which audit; no data values\n"
            "$ ppdm-flow doctor >> disagree.txt    # report this file, and the policy if you may"
        ),
    ),
    CodePage(
        "PPF903",
        "the file is not what was written",
        "The released file, read back, does not hold the rows that went into it; or a file of the run, hashed again"
        " just before it is published, is not what it was when it was judged.",
        "What is not in order on disk must not leave.",
        "Check the disk. " + _REPORT,
        bad="$ ppdm-flow run policy.yaml --out /mnt/share/runs    # a disk or network that changes what is written",
        good=(
            "$ PPDM_LOG=debug ppdm-flow run policy.yaml --out /tmp/runs 2> other.txt    # the same on"
            " another disk?\n"
            "$ ppdm-flow doctor >> other.txt    # then report this file"
        ),
    ),
    CodePage(
        "PPF904",
        "the release has other columns or files",
        "The released file, read back, has other columns than the plan releases, or other files lie beside it.",
        "A column or a file more would be a leak.",
        _REPORT,
        bad=(
            "$ ppdm-flow run policy.yaml    # something else writes into the folder of runs meanwhile, or a plugin does"
        ),
        good=(
            "$ PPDM_LOG=debug ppdm-flow run policy.yaml --out /tmp/runs 2> other.txt    # the same in a"
            " folder of its own?\n"
            "$ ppdm-flow doctor >> other.txt    # then report this file"
        ),
    ),
    CodePage(
        "PPF905",
        "a plugin broke its promise",
        "A step returned other columns or rows than it said, or keys of another shape.",
        "What the plan promises is what the audits judge.",
        _REPORT,
        bad="$ ppdm-flow run policy.yaml    # ends with PPF905 and the step that broke it",
        good=(
            "$ PPDM_LOG=debug ppdm-flow run policy.yaml 2> promise.txt    # where in the plugin; no data"
            " values\n"
            "$ ppdm-flow doctor >> promise.txt    # report this file to the plugin's author"
        ),
    ),
    CodePage(
        "PPF906",
        "a plan that cannot run",
        "The plan was made or changed by hand in a program, or is for data with other columns.",
        "Plans come from policies, which are checked; what a plan of one's own promises nobody has checked.",
        "Compile the policy anew for the columns of the data, as `ppdm-flow run` does.",
        bad="$ python release.py    # a script that changes a plan, and executes it",
        good="$ ppdm-flow plan policy.yaml --data patients.csv\n$ ppdm-flow run policy.yaml --data patients.csv",
    ),
    CodePage(
        "PPF907",
        "stopped",
        "Work was given up because another part of the run failed.",
        "A run is released as a whole or not at all, so the other parts had no reason to go on.",
        "Look at the error beside it: that is the one to mend. `--workers 1` shows it alone.",
        bad="$ ppdm-flow run policy.yaml --workers 4    # one branch fails, and the others are given up",
        good="$ ppdm-flow run policy.yaml --workers 1    # one after the other: only the failure itself is told",
    ),
    CodePage(
        "PPF908",
        "the second route failed",
        "DuckDB could not answer a query of an audit. Its message is not shown: it may quote data.",
        (
            "Each guarantee is computed in two ways that share no code. With one of them alone it is not"
            " relied on: nothing was released."
        ),
        _REPORT,
        bad="$ ppdm-flow run policy.yaml    # ends with PPF908 and the audit whose query failed",
        good="$ PPDM_LOG=debug ppdm-flow run policy.yaml 2> query.txt    # where; no data values\n"
        "$ ppdm-flow doctor >> query.txt    # report this file, with the version of DuckDB",
    ),
    CodePage(
        "PPF909",
        "an audit without a second route",
        "An audit that measures a requirement has no `recheck`.",
        ("Each guarantee is computed in two ways that share no code. One that is computed once is only a claim."),
        "Tell the author of the plugin: it has to add a second, independent computation.",
        bad='$ grep -n "def " acme_risk/audit.py    # an audit of a plugin that measures a requirement\n'
        "12:    def measure(self, original, candidate, context):",
        good='$ grep -n "def " acme_risk/audit.py\n'
        "12:    def measure(self, original, candidate, context):\n"
        "31:    def recheck(self, original, candidate, context):",
    ),
    CodePage(
        "PPF910",
        "a report that says something else",
        "The `report.json` that the run wrote, read back from disk, has another verdict than the one that was judged.",
        "What people and programs go by is the report on disk: a release whose report says otherwise is none.",
        "Check the disk, and what else writes into the folder of runs. " + _REPORT,
        bad="$ ppdm-flow run policy.yaml --out /mnt/share/runs    # something else changes what is written there",
        good="$ ppdm-flow run policy.yaml --out /tmp/runs    # a folder of its own",
    ),
)
