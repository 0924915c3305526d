"""PPF640 to PPF649: what is compared with what."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF640",
        "a revision, or a path in it, that is not there",
        "`REVISION:PATH` names no commit, branch or tag of the repository, or no YAML file or folder of them in it.",
        "Compared with nothing, every change would look like none.",
        "Fetch the revision (CI often checks out one commit only: `fetch-depth: 0`), and give the path as it is from"
        " the repository's root; `./` begins at the current folder.",
        bad="$ ppdm-flow diff man:policies/credit.yaml policies/credit.yaml",
        good="$ ppdm-flow diff main:policies/credit.yaml policies/credit.yaml",
    ),
    CodePage(
        "PPF641",
        "git is not there",
        "A word such as `main:policies` asks for a git revision, and there is no program `git`.",
        "Only git knows what a revision holds.",
        "Install git, or give two files or folders.",
        bad="$ ppdm-flow diff main:policies policies",
        good="$ ppdm-flow diff ../before/policies policies",
    ),
    CodePage(
        "PPF642",
        "things that cannot be compared",
        "One side is a policy and the other a folder or a run, or neither folder holds a policy.",
        "There is nothing to say clause by clause.",
        "Give two policies, two folders of policies, or two directories of runs.",
        bad="$ ppdm-flow diff main:policies policies/credit.yaml",
        good="$ ppdm-flow diff main:policies policies",
    ),
    CodePage(
        "PPF643",
        "`--data` with folders or runs",
        "Measuring on data is for two policies.",
        "Runs were measured already, and policies of a folder may read different data.",
        "Give two policies.",
        bad="$ ppdm-flow diff main:policies policies --data sample.csv",
        good="$ ppdm-flow diff main:policies/credit.yaml policies/credit.yaml --data sample.csv",
    ),
)
