"""PPF760 to PPF769: what a recipient asks of a release."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF760",
        "no release there",
        "The path is no release: nothing is there, the run released nothing, or it has several releases.",
        "Estimates of another file than the one that was meant would be believed all the same.",
        "Give a run's directory, the folder of one release below `released/`, or the data file in it.",
        bad="$ ppdm-flow reconstruct runs/hospital",
        good="$ ppdm-flow reconstruct runs/hospital/RUN/released/medical",
    ),
    CodePage(
        "PPF761",
        "no operator came with the release",
        "Beside the data there is no `operator.json`, or none for the attribute.",
        "Without the probabilities by which values were replaced nothing follows from the released ones.",
        "Take the file over together with its folder, or name the operator's file with `--operator`. A release without"
        " a perturbed attribute needs no reconstruction: its counts are what they are.",
        bad=(
            "$ cp from-them/medical.parquet .    # and its operator.json stays behind\n"
            "$ ppdm-flow reconstruct medical.parquet"
        ),
        good="$ ppdm-flow reconstruct medical.parquet --operator from-them/operator.json",
    ),
    CodePage(
        "PPF762",
        "which attribute?",
        "The release has an operator for several attributes and none was named, or none for the one that was.",
        "Each attribute is reconstructed by its own operator.",
        "Name one of the perturbed attributes with `--attribute`.",
        bad="$ ppdm-flow reconstruct RELEASE    # disease and income were both perturbed",
        good="$ ppdm-flow reconstruct RELEASE --attribute disease",
    ),
    CodePage(
        "PPF763",
        "rows cannot be chosen by this column",
        "`--by` or `--where` names a column that the release has not, or the perturbed attribute itself.",
        "Released values of the perturbed attribute are partly chance: rows chosen by them are no group of persons.",
        "Use another column of the release.",
        bad="$ ppdm-flow reconstruct RELEASE --where disease=HIV",
        good="$ ppdm-flow reconstruct RELEASE --by age",
    ),
    CodePage(
        "PPF764",
        "no rows",
        "The file has no rows, or none that `--where` asks for.",
        "Of no rows there is nothing to estimate.",
        "Look at the values that there are with `--by`; they are compared as text, `NAME=` means a missing value.",
        bad="$ ppdm-flow reconstruct RELEASE --where sex=F",
        good="$ ppdm-flow reconstruct RELEASE --by sex",
    ),
    CodePage(
        "PPF765",
        "values that the operator does not know",
        "The released attribute has cells that are not among the values that the operator chooses from.",
        "The operator never puts out such a value: it is another release's, or the column was changed afterwards.",
        "Use the `operator.json` that came with this very file.",
        bad="$ ppdm-flow reconstruct 2026/medical.parquet --operator 2025/operator.json",
        good="$ ppdm-flow reconstruct 2026/medical.parquet --operator 2026/operator.json",
    ),
    CodePage(
        "PPF766",
        "an option that cannot be understood",
        "`--where` lacks its `=`, a column is named twice in `--by`, or `--level` is not between 0 and 1.",
        "A guess could answer another question than the one that was asked.",
        "Write `--where NAME=VALUE`, `--by NAME,NAME` and, for 95 %, `--level 0.95`.",
        bad="$ ppdm-flow reconstruct RELEASE --level 95",
        good="$ ppdm-flow reconstruct RELEASE --level 0.95 --where sex=female",
    ),
    CodePage(
        "PPF767",
        "the released counts hardly fit the operator",
        "Some released count differs from anything that the operator could have made of some original table by more"
        " than chance does in one of a million releases.",
        "Most likely the operator is another release's, or the column was changed after it was perturbed; then the"
        " estimates mean nothing.",
        "Use the `operator.json` that came with this very file, and ask whoever released it.",
        bad=(
            "$ ppdm-flow reconstruct medical.parquet --operator sample/operator.json    # of a sample of the same data"
        ),
        good="$ ppdm-flow reconstruct medical.parquet --operator operator.json",
    ),
    CodePage(
        "PPF768",
        "too many groups",
        "The groups of `--by` times the values of the attribute are more than two million estimates.",
        "Groups that small say nothing, and nobody reads so many lines.",
        "Group by fewer columns, or choose rows with `--where`.",
        bad="$ ppdm-flow reconstruct RELEASE --by patient,zip,age",
        good="$ ppdm-flow reconstruct RELEASE --by sex --where region=north",
    ),
    CodePage(
        "PPF769",
        "a damaged data dictionary",
        "The `dictionary.json` beside the release is not as a release has it.",
        "It says which file is the data, and how it is written.",
        "Take the release over again, or give the data file itself from a folder of its own with its `operator.json`.",
        bad=(
            "$ truncate -s 200 from-them/dictionary.json    # as a broken transfer leaves it\n"
            "$ ppdm-flow reconstruct from-them"
        ),
        good="$ mkdir alone && cp from-them/medical.parquet from-them/operator.json alone/\n"
        "$ ppdm-flow reconstruct alone/medical.parquet",
    ),
)
