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
)
