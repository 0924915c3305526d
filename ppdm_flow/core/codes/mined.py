"""PPF135 to PPF139: what a recipient asks of a release with sets of items."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF135",
        "no sets of items there",
        "The release has no column of sets, has several and none was named, or the named one holds single values.",
        "Itemsets are mined in one column of sets: transactions of FIMI files or baskets, lists in Parquet, or"
        " randomized sets.",
        "Name one of several columns with `--attribute`. Give the folder of the release, so that its `dictionary.json`"
        " says how the file is written.",
        bad="$ ppdm-flow mine patients.csv --min-support 0.01",
        good="$ ppdm-flow mine RUN/released/baskets --min-support 0.01",
    ),
    CodePage(
        "PPF136",
        "no operator for randomized sets",
        "The sets are randomized, and no `operator.json` says how: it is missing, is another release's, or is damaged;"
        " or the `mining_contract.json` beside it is damaged.",
        "Without the operator nothing follows from randomized sets: most of their items were put in by chance.",
        "Take the file over together with its folder, or name the operator's file with `--operator`.",
        bad=(
            "$ cp from-them/baskets.parquet .    # and its operator.json stays behind\n"
            "$ ppdm-flow mine baskets.parquet --min-support 0.002"
        ),
        good="$ ppdm-flow mine baskets.parquet --operator from-them/operator.json --min-support 0.002",
    ),
    CodePage(
        "PPF137",
        "sets and operator do not fit",
        "The released sets are over another alphabet than the operator, were put in with other probabilities, do not"
        " say how many items their transaction had, are fewer or more than the data dictionary says, or have more or"
        " fewer items than the operator makes. In the last two cases it is a warning.",
        "Estimates by another release's operator mean nothing, and look like any others.",
        "Use the `operator.json` that came with this very file, whole.",
        bad="$ ppdm-flow mine 2026/baskets.parquet --operator 2025/operator.json --min-support 0.002",
        good="$ ppdm-flow mine 2026/baskets.parquet --operator 2026/operator.json --min-support 0.002",
    ),
    CodePage(
        "PPF138",
        "an option of `mine` that cannot be understood",
        "`--min-support` is neither a share above 0, up to 1, nor a whole number of transactions, from 1 to all of"
        " them; `--min-confidence` is not between 0 and 1; `--level` is not a share between 0 and 1; or an option for"
        " rules is given without `--rules`.",
        "A guess could answer another question than the one that was asked.",
        "Write 0.2 % as `--min-support 0.002`, and 500 transactions as `--min-support 500`.",
        bad="$ ppdm-flow mine RELEASE --min-support 0,2%",
        good="$ ppdm-flow mine RELEASE --min-support 0.002",
    ),
    CodePage(
        "PPF139",
        "a minimum support below what can be discovered",
        "Among itemsets of some size, those of the minimum support cannot be told from such that do not occur at all:"
        " their estimate is less than 4 standard errors above 0. A warning.",
        "Of so many candidates some get an estimate above the minimum support by chance alone, and some that are"
        " frequent fall below it. The number to expect is estimated from how all estimates are spread.",
        "Raise the minimum support, or take the itemsets without the mark `?` only. More transactions, or a release"
        " with a higher breach level, make lower supports discoverable.",
        bad=(
            "$ ppdm-flow mine RELEASE --min-support 0.0001    # a few sets among ten thousand: chance"
            " alone makes as many"
        ),
        good="$ ppdm-flow mine RELEASE --min-support 0.005",
    ),
)
