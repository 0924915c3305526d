"""The page on the lock file."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.api.concept import Concept

LOCK_CONCEPTS: Mapping[str, Concept] = {
    "lock": Concept(
        "Sharing policies",
        "which templates, definitions and plugins stand behind each policy: `ppdm-flow.lock`, to be committed",
        "A policy says what must hold; what it means depends on templates, on files with definitions, and on the code"
        " that runs. `ppdm-flow lock` writes all these down for the policies of a repository (those in `policies/`, or"
        " in the paths that it is given, and those that the lock has already), each shared thing once:\n\n"
        "- **templates**: the SHA-256 of every file that `extends:` brings in, directly or not; for `builtin:` and"
        " `pkg:` templates also distribution and version,\n"
        "- **files**: the SHA-256 of definitions: hierarchies (`hierarchy: {csv: …}`) and what steps take as a file,\n"
        "- **plugins**: distribution and version of every step, audit, source and sink; also of audits that nobody"
        " wrote, since a requirement implies them or every release has them,\n"
        "- **policies**: which of these each of them uses; and the version of the policy language.\n\n"
        "Not in it: the policies themselves, which change in their own files, where a review sees it (`ppdm-flow diff`"
        " says what it means); the data, populations and other releases that audits compare with, and the ledger, which"
        " change while the policy stays the same (a run's manifest has the digest of its data); and keys, since a"
        " digest of a short key gives it away.\n\n"
        "Digests are of the bytes. A checkout that turns line ends around makes another file: put"
        " `*.yaml text eol=lf`, and the same for `*.csv`, into `.gitattributes`.\n\n"
        "Only `lock` writes the file, and prints what changed. `lock --check` ends with 1 where anything differs, and"
        " names it at the line that asks for it; `lock --upgrade NAME` (a template, file, plugin or distribution, again"
        " and again) refuses where more than that has other content or another version. `--locked` lets `check`,"
        " `plan`, `run`, `audit`, `sweep` and `test` refuse a policy that uses what the lock does not have, or has"
        " otherwise; the manifest of such a run has the lock's SHA-256. With `--data`, the source's plugin may be"
        " another one, of a release (distribution and version) that the lock has. What the lock lists and a policy no"
        " longer uses is for `lock --check` to tell; a run is not in danger from it.\n\n"
        "The values of params stand in the policy, its templates or their `with:`, so with `--locked` a `--set` that"
        " gives one another value is refused (PPF648); a param without any is for whoever runs the policy. `sweep` and"
        " policy tests, which release nothing, try what they like.\n\n"
        "The lock is the nearest file of its name in the policy's folder or above it, up to the root of the repository"
        " (the folder with `.git`); a new one is made in the current folder where that is above all policies, else in"
        " the folder that they share. It fixes code by name and version and does not hash it: whoever installs"
        " another package under the same version is not found out by it.",
        "# ppdm-flow lock                        (after a template or a plugin changed, on purpose)\n"
        "# ppdm-flow lock --check                (in CI)\n"
        "# ppdm-flow run POLICY --locked\n"
        "templates:\n"
        '  "builtin:microdata-k": {distribution: "ppdm_flow", version: "0.1.0", sha256: "3e9d98d3…"}\n'
        "plugins:\n"
        '  audits/k_anonymity: {distribution: "ppdm_flow", version: "0.1.0"}',
    ),
}
"""The page, by the name that ``explain`` takes."""
