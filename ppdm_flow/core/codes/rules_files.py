"""PPF595 to PPF598: what a file is, and the names of the files that a release is made of."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF595",
        "a file that is no policy",
        "The keys at the top of the file are not those of a policy (nor of a template or a policy test): it may be a"
        " table of data, a key or a settings file, given by mistake.",
        "Nothing of such a file is quoted, neither its lines nor its keys: the log of a build is read by many.",
        "Give the policy; data goes behind `--data`. A policy that was meant begins with `version: 1`.",
        bad="$ ppdm-flow check data/patients.csv",
        good="$ ppdm-flow check policy.yaml",
    ),
    CodePage(
        "PPF596",
        "a released file with the name of a document",
        "The path of a release begins with the name of a file that a run writes beside it: `dictionary.json`,"
        " `operator.json` or `mining_contract.json` (or one that ends with `-` and such a name), in whatever case.",
        "One of the two would be written over the other, or taken for it by whoever receives the release.",
        "Give the released file another name.",
        bad="releases: {study: {path: Dictionary.json, format: csv}}",
        good="releases: {study: {path: study.csv}}",
    ),
    CodePage(
        "PPF597",
        "two names that differ in case only",
        "Two releases, or two steps, have names that are the same but for upper and lower case.",
        "Folders and documents are named after them: on Windows and macOS one would take the place of the other.",
        "Rename one of them.",
        bad="releases:\n  study: {path: a.csv}\n  Study: {path: b.csv}",
        good="releases:\n  study: {path: a.csv}\n  trial: {path: b.csv}",
    ),
    CodePage(
        "PPF598",
        "a name that some systems cannot have",
        "The name of the policy, a release or a step, or a part of a release's path, holds NUL or another control"
        ' character, a backslash or one of `< > : " | ? *`, is the name of a device (`nul`, `con.csv`), begins or ends'
        " with a blank, or is too long.",
        "The run would end at its last step, or the recipient could not unpack the release.",
        "Use letters, digits, `_`, `-` and dots.",
        bad="releases: {study: {path: nul.csv}}",
        good="releases: {study: {path: null-values.csv}}",
    ),
)
