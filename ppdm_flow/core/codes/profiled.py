"""PPF67x: data that is to be profiled."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF670",
        "no rows to profile",
        "The file has no rows.",
        "Roles and types are guessed from rows, so there is nothing to guess from.",
        "Give a file with data, or start with `ppdm-flow init`.",
        bad="$ cat export.csv    # the names of the columns, and nothing else\n"
        "age,job,disease\n"
        "$ ppdm-flow profile export.csv",
        good="$ ppdm-flow profile patients.csv",
    ),
    CodePage(
        "PPF671",
        "no profile of sets",
        "The file holds sets of items: baskets, transactions, lists.",
        "What is unique among sets is another question, which `privacy.km_anonymity` and `itemset_breach` ask.",
        "Start from `pipelines/pharmacy.yaml`.",
        bad="$ ppdm-flow profile orders.parquet    # a column of lists: what was bought together",
        good=(
            "$ cp pipelines/pharmacy.yaml orders.yaml    # a policy about sets, to begin with\n"
            "$ ppdm-flow check orders.yaml"
        ),
    ),
    CodePage(
        "PPF672",
        "columns without a name",
        "A column has an empty name.",
        "A policy declares columns by their names.",
        "Take the column away or give it a name; `--no-header` takes the first line for data and numbers the columns.",
        bad="$ ppdm-flow profile export.csv",
        good="$ ppdm-flow profile export.csv --no-header",
    ),
    CodePage(
        "PPF673",
        "`profile` overwrites nothing",
        "The file that the policy is to be written to is there already.",
        "A policy that somebody wrote must not be lost.",
        "Name another file behind `--out`, or move the old one away if it is not needed.",
        bad="$ ppdm-flow profile patients.csv --out policy.yaml    # policy.yaml is there already",
        good="$ ppdm-flow profile patients.csv --out patients.yaml",
    ),
    CodePage(
        "PPF675",
        "columns that are named by values",
        "In a Parquet or JSON file a column's name is one of its own values, a date or an address.",
        "A file without a header was read as if it had one when this one was made: its first row became the names, and"
        " a profile would show that person's values.",
        "Write the file again from the original, with names. Where they are names after all, say `--header`.",
        bad="$ ppdm-flow profile patients.parquet    # its columns are called 39, flu and 2021-03-04",
        good="$ ppdm-flow profile patients.parquet --header",
    ),
    CodePage(
        "PPF674",
        "nothing left to release",
        "Every column of the data looks like a direct identifier.",
        "Identifiers do not leave, so no policy can be suggested.",
        "`ppdm-flow profile DATA --format text` says why each column looks like one. Where that is wrong, start from"
        " `ppdm-flow init`.",
        bad=(
            "$ head -3 members.csv    # numbers, names and addresses only\n"
            "number,name,mail\n"
            "1,Ada,ada@mail.example\n"
            "2,Ben,ben@mail.example\n"
            "$ ppdm-flow profile members.csv"
        ),
        good="$ ppdm-flow profile members.csv --format text    # why each column looks like an identifier",
    ),
)
