"""PPF140 to PPF149: the shape of policy tests. PPF650 to PPF659: carrying them out."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF140",
        "a test file, or the policy that it names, cannot be read",
        "The file is not there, is a folder, or may not be read.",
        "Tests of nothing would pass.",
        "`policy:` is a path relative to the test file.",
        bad=(
            "policy: credit.yaml    # it is in ../policies\n"
            "tests:\n"
            "  small: {data: {csv: small.csv}, expect: {verdict: released}}"
        ),
        good=(
            "policy: ../policies/credit.yaml\ntests:\n  small: {data: {csv: small.csv}, expect: {verdict: released}}"
        ),
    ),
    CodePage(
        "PPF141",
        "a test that tests nothing",
        "A test expects nothing, expects something of a run and has no `data`, or has data and expects nothing of a"
        " run; or one of its expectations is empty.",
        "It would pass whatever the policy does.",
        "Give `expect` a `verdict`, and the test a small table under `data` (or the file, for all of its tests).",
        bad="policy: credit.yaml\ntests:\n  rare-ages:\n    data: |\n      age,job\n      34,nurse\n    expect: {}",
        good=(
            "policy: credit.yaml\n"
            "tests:\n"
            "  rare-ages:\n"
            "    data: |\n"
            "      age,job\n"
            "      34,nurse\n"
            "    expect: {verdict: withheld}"
        ),
    ),
    CodePage(
        "PPF142",
        "a row unlike the others",
        "The rows of a table that a test writes as a list have not the same columns, or a cell is no single value.",
        "A value under the wrong column would be tested as something else.",
        "Write maps with the same keys, or a list of names and then lists with as many cells; `~` is a missing value.",
        bad="policy: credit.yaml\ndata: [[age, job], [34]]\ntests:\n  one: {expect: {verdict: withheld}}",
        good="policy: credit.yaml\ndata: [[age, job], [34, nurse]]\ntests:\n  one: {expect: {verdict: withheld}}",
    ),
    CodePage(
        "PPF143",
        "a requirement or gate that the policy does not have",
        "`fails` and `holds` name requirements by their place in the policy (`privacy.k_anonymity`) and gates as"
        " `gates.NAME`; with several releases `RELEASE/` may stand before it.",
        "A test about a misspelt requirement would say nothing of the one that was meant.",
        "Take the name from `ppdm-flow plan POLICY`.",
        bad="policy: credit.yaml\ndata: {csv: small.csv}\ntests:\n  small: {expect: {fails: [privacy.k_anonimity]}}",
        good="policy: credit.yaml\ndata: {csv: small.csv}\ntests:\n  small: {expect: {fails: [privacy.k_anonymity]}}",
    ),
    CodePage(
        "PPF144",
        "a figure of nothing in the policy",
        "No audit, step or requirement of the policy has the name that a metric begins with.",
        "A bound on a figure that does not exist could never be met.",
        "Name figures as `metrics` of a run's `report.json` does; `ppdm-flow test -v` shows those of a test.",
        bad=(
            "policy: credit.yaml\n"
            "data: {csv: small.csv}\n"
            "tests:\n"
            "  small: {expect: {metrics: {supress.suppressed_cells: {max: 4}}}}"
        ),
        good=(
            "policy: credit.yaml\n"
            "data: {csv: small.csv}\n"
            "tests:\n"
            "  small: {expect: {metrics: {suppress.suppressed_cells: {max: 4}}}}"
        ),
    ),
    CodePage(
        "PPF145",
        "expectations that contradict each other",
        "What a test expects cannot happen: a release that fails a requirement, a figure of at least 3 and at most 2,"
        " refused data with columns; or one key takes away the meaning of another.",
        "The test would fail whatever the policy does.",
        "Keep the one that is meant.",
        bad=(
            "policy: credit.yaml\n"
            "data: {csv: small.csv}\n"
            "tests:\n"
            "  small: {expect: {verdict: released, fails: [privacy.k_anonymity]}}"
        ),
        good=(
            "policy: credit.yaml\n"
            "data: {csv: small.csv}\n"
            "tests:\n"
            "  small: {expect: {verdict: withheld, fails: [privacy.k_anonymity]}}"
        ),
    ),
    CodePage(
        "PPF146",
        "not one table",
        "A table is given in none of its forms, in two of them, or in one that does not fit: sets of items are written"
        " as text, in the format that the policy's source has.",
        "It would not be clear what is tested.",
        "Give `text`, `rows`, `csv` or `file`. A bare text is `text`, a bare list `rows`.",
        bad=(
            "policy: credit.yaml\n"
            "data: {csv: small.csv, rows: [[age], [34]]}\n"
            "tests:\n"
            "  small: {expect: {verdict: withheld}}"
        ),
        good="policy: credit.yaml\ndata: {csv: small.csv}\ntests:\n  small: {expect: {verdict: withheld}}",
    ),
    CodePage(
        "PPF147",
        "a release or column that the policy does not have",
        "A test expects something of a release or of a column that the policy does not release, or does not say of"
        " which of several releases.",
        "It would be about nothing.",
        "Write `releases: {NAME: {…}}` under `expect` where there are several; with `released`, name one by `release`.",
        bad=(
            "policy: hospital.yaml    # which has the releases billing and medical\n"
            "data: {csv: small.csv}\n"
            "tests:\n"
            "  small: {expect: {rows: 5}}"
        ),
        good=(
            "policy: hospital.yaml\ndata: {csv: small.csv}\ntests:\n  small: {expect: {releases: {billing: {rows: 5}}}}"
        ),
    ),
    CodePage(
        "PPF148",
        "a code that ppdm-flow does not have",
        "`code`, `check` or `findings` names a diagnostic code that nothing ever reports.",
        "A test would wait for it in vain.",
        "`ppdm-flow explain CODE` shows what a code stands for.",
        bad=(
            "policy: credit.yaml\ndata: {csv: small.csv}\ntests:\n  small: {expect: {verdict: refused, code: PPF999}}"
        ),
        good=(
            "policy: credit.yaml\ndata: {csv: small.csv}\ntests:\n  small: {expect: {verdict: refused, code: PPF709}}"
        ),
    ),
    CodePage(
        "PPF149",
        "a data file of a test that is not there",
        "`csv` or `file` names a file that does not exist. Paths are relative to the test file.",
        "There is nothing to run on.",
        "Correct the path, or write the table into the test.",
        bad="policy: credit.yaml\ndata: {csv: smal.csv}\ntests:\n  small: {expect: {verdict: released}}",
        good="policy: credit.yaml\ndata: {csv: small.csv}\ntests:\n  small: {expect: {verdict: released}}",
    ),
    CodePage(
        "PPF650",
        "no tests found",
        "None of the files and folders holds policy tests: files whose names end with `.test.yaml`.",
        "That nothing failed would be mistaken for a passed test.",
        "Give the files or their folder.",
        bad="$ ppdm-flow test policies/        # the tests are beside it",
        good="$ ppdm-flow test tests/",
    ),
    CodePage(
        "PPF651",
        "no test is meant",
        "No test's file and name holds what stands behind `-k`.",
        "That nothing failed would be mistaken for a passed test.",
        "`ppdm-flow test --list` shows all names. A pattern with `*` must fit the whole name of the test.",
        bad="$ ppdm-flow test -k rares",
        good="$ ppdm-flow test -k rare",
    ),
    CodePage(
        "PPF652",
        "not as expected",
        "What a policy test expects is not what happened. The line of the expectation is drawn, with what was measured,"
        " and with the place of the requirement in the policy.",
        "Either the policy changed what it promises, or the test is wrong about it.",
        "`ppdm-flow test FILE -k NAME -v` shows everything that was measured. Tests run under a key that their name"
        " gives, so the same test comes out the same every time.",
        bad=(
            "policy: credit.yaml\n"
            "data: {csv: small.csv}\n"
            "tests:\n"
            "  small: {expect: {verdict: released}}    # and it is withheld"
        ),
        good=(
            "policy: credit.yaml\n"
            "data: {csv: small.csv}\n"
            "tests:\n"
            "  small: {expect: {verdict: withheld, fails: [privacy.k_anonymity]}}"
        ),
    ),
    CodePage(
        "PPF653",
        "the tests cover too little",
        "Of all requirements and gates (which some test should make hold, and some test fail), steps (which some test"
        " should make change something) and named values (which some test's data should have), the tests exercise a"
        " smaller share than `--fail-under` asks for.",
        "What no test exercises can break unseen.",
        "The table of `--coverage` names what is missing: add a test for it.",
        bad="$ ppdm-flow test tests/ --fail-under 90    # and no test makes k_anonymity fail",
        good="$ ppdm-flow test tests/ --coverage",
    ),
    CodePage(
        "PPF654",
        "the process that carried out a test ended",
        "A worker process was killed or crashed, most often for lack of memory; the tests that were still waiting for"
        " it are errors as well.",
        "What they would have shown is not known.",
        "Run again with `--workers 1`, which shows the test that ends it.",
        bad="$ ppdm-flow test tests/ --workers 16       # on a machine with 4 GB",
        good="$ ppdm-flow test tests/ --workers 2",
    ),
)
