"""PPF66x: what an outcome is written as, and where to."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF660",
        "no such format",
        "The verb does not write its outcome in the format that `--format` names.",
        "A step of CI that uploads a file must find that file.",
        "`ppdm-flow VERB --help` lists the formats; `ppdm-flow explain formats` says what each is for.",
        bad="$ ppdm-flow check policies/ --format sariff",
        good="$ ppdm-flow check policies/ --format sarif --output-file out.sarif",
    ),
    CodePage(
        "PPF661",
        "a file without a format",
        "Where several formats are written, each `--output-file` belongs to the `--format` before it. One stands before"
        " any, or a second one behind the same.",
        "A guess would put one document into the file that is meant for another.",
        "Write `--format NAME --output-file FILE` for each.",
        bad="$ ppdm-flow check policies/ --output-file out.sarif --format text --format sarif",
        good="$ ppdm-flow check policies/ --format text --format sarif --output-file out.sarif",
    ),
    CodePage(
        "PPF662",
        "two formats in one file",
        "The same file is named for two formats.",
        "The second would overwrite the first.",
        "Name another `--output-file` behind each `--format`.",
        bad="$ ppdm-flow check policies/ --format sarif --output-file out --format junit --output-file out",
        good="$ ppdm-flow check policies/ --format sarif --output-file out.sarif --format junit --output-file out.xml",
    ),
    CodePage(
        "PPF663",
        "several documents on stdout",
        "More than one format goes to stdout, and not all of them are lines for a log.",
        "Two documents in one stream can be read by no program.",
        "Give all but one an `--output-file`. Only `text`, `concise` and `github` can share stdout.",
        bad="$ ppdm-flow check policies/ --format sarif --format github",
        good="$ ppdm-flow check policies/ --format sarif --output-file out.sarif --format github",
    ),
    CodePage(
        "PPF664",
        "the outcome over its input",
        "The file of `--output-file` is one that the command reads, or that a policy names which it reads (data, a"
        " template, a hierarchy, a ledger, a key); or it is a ledger, a key, or a file of a run, whoever reads it.",
        "The policy, the data, or what was released so far would be lost.",
        "Name another `--output-file`, outside of what the command reads.",
        bad="$ ppdm-flow check clinic.yaml --format sarif --output-file clinic.yaml",
        good="$ ppdm-flow check clinic.yaml --format sarif --output-file clinic.sarif",
    ),
)
