"""PPF319 to PPF321, PPF339, PPF648 and PPF681 to PPF684: the lock file."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF319",
        "a file that the lock has to fix cannot be read",
        "A template or a definition that the policy names (a hierarchy, say) is not there, or may not be read.",
        "The lock holds the SHA-256 of the bytes of each: what cannot be read, nobody can vouch for.",
        "Put the file where the policy says, or correct the path; both are meant from the folder of the file that"
        " names it.",
        bad="attributes:\n  age: {role: quasi_identifier, hierarchy: {csv: no-such-file.csv}}",
        good="attributes:\n  age: {role: quasi_identifier, hierarchy: {csv: hierarchies/age.csv}}",
    ),
    CodePage(
        "PPF320",
        "not in the lock",
        "The policy, or a template, a plugin or a file that it uses, is not in `ppdm-flow.lock`.",
        "The lock lists what was looked at. What it does not list came in later.",
        "Look at what is new; if it is meant, run `ppdm-flow lock` and commit the file.",
        bad="$ ppdm-flow run policies/added-later.yaml --locked",
        good="$ ppdm-flow lock\n$ ppdm-flow run policies/added-later.yaml --locked",
    ),
    CodePage(
        "PPF321",
        "the lock lists what nothing uses",
        "`ppdm-flow.lock` has a policy that is gone, or a template, a plugin or a file that no policy uses any more.",
        "A list that is longer than the truth cannot be reviewed, and a removed template may be a removed promise.",
        "Run `ppdm-flow lock` and commit the file.",
        bad="$ git rm policies/old.yaml\n$ ppdm-flow lock --check",
        good="$ git rm policies/old.yaml\n$ ppdm-flow lock\n$ ppdm-flow lock --check",
    ),
    CodePage(
        "PPF339",
        "another one than the lock says",
        "A template or a definition has other bytes than when the lock was written, or a template or a plugin comes"
        " from another distribution, or from another version of it.",
        "What was reviewed is not what would run: a template may promise less, a plugin may compute something else.",
        "Look at what changed; if it is meant, `ppdm-flow lock --upgrade NAME` (or `ppdm-flow lock` for all) and commit"
        " the file. If not, restore the file or install the locked version. Where only line ends differ, put"
        " `*.yaml text eol=lf` into `.gitattributes`.",
        bad="$ pip install --upgrade acme-policies\n$ ppdm-flow run policies/visits.yaml --locked",
        good="$ pip install --upgrade acme-policies\n$ ppdm-flow lock --upgrade pkg:acme-policies/hospital",
    ),
    CodePage(
        "PPF648",
        "another value for a param of a locked policy",
        "`--locked` and `--set NAME=…` come together, and the policy (or a template, or its `with:`) gives the param"
        " another value.",
        "What was reviewed and locked is not what would run: a smaller k is one word on the command line.",
        "Write the value into the policy, where `ppdm-flow diff` says what it weakens, or leave `--locked` out. A param"
        " that whoever runs the policy has to choose has no default: then `--set` is how to give it.",
        bad="$ ppdm-flow run policies/visits.yaml --locked --set k=2    # params: {k: {type: integer, default: 5}}",
        good="$ ppdm-flow run policies/visits.yaml --locked",
    ),
    CodePage(
        "PPF681",
        "there is no lock file",
        "`--locked` and `lock --check` look for `ppdm-flow.lock` in the policy's folder and those above it, up to the"
        " repository's root.",
        "Without it there is nothing to hold templates and plugins against.",
        "Write it with `ppdm-flow lock`, look at it, and commit it.",
        bad="$ ppdm-flow run policies/visits.yaml --locked",
        good="$ ppdm-flow lock\n$ ppdm-flow run policies/visits.yaml --locked",
    ),
    CodePage(
        "PPF682",
        "the lock file cannot be used",
        "`ppdm-flow.lock` is not as `ppdm-flow lock` writes it: it is damaged, of another version, holds the markers of"
        " a merge, or cannot be read.",
        "A lock that is understood in part would let pass what it should hold.",
        "After a merge, take either side and run `ppdm-flow lock`; the difference shows what both sides changed. A"
        " damaged one is restored from version control, or deleted and written anew.",
        bad="$ cat ppdm-flow.lock        # a merge that nobody has settled\n<<<<<<< HEAD\nlock: 1",
        good="$ git checkout --theirs ppdm-flow.lock\n$ ppdm-flow lock",
    ),
    CodePage(
        "PPF683",
        "more changed than may be upgraded",
        "`lock --upgrade NAME` writes the lock only where nothing changed but what is named.",
        "An upgrade of one template is reviewed as such; a second change in its shadow would not be.",
        "Name each that may change (a template, a plugin, a file, or a distribution for all that it brings), undo the"
        " others, or run `ppdm-flow lock` and review them all.",
        bad="$ ppdm-flow lock --upgrade pkg:acme-policies/hospital   # and `templates/house.yaml` was edited",
        good="$ ppdm-flow lock --upgrade pkg:acme-policies/hospital --upgrade templates/house.yaml",
    ),
    CodePage(
        "PPF684",
        "these policies have several lock files",
        "Some of the policies stand below one `ppdm-flow.lock` and some below another, or below none.",
        "A policy is held against the nearest lock above it, so one file for all of them would never be read.",
        "Lock each part by itself, or delete the inner files and run `ppdm-flow lock` at the root.",
        bad="$ ppdm-flow lock .",
        good="$ ppdm-flow lock hospital/policies\n$ ppdm-flow lock research/policies",
    ),
)
"""The page of each code."""
