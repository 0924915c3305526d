"""The author of a run, who signs it with a key that is checked before anything is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppdm_flow.api.sign import sign
from ppdm_flow.core.addresses.bucket import is_bucket
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.approval.decision import AUTHOR
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.evidence.key_files import Password, read_signing_key
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document
from ppdm_flow.policy.demands import EqualTo
from ppdm_flow.policy.signers import read_signers


@dataclass(frozen=True, slots=True)
class Author:
    """Who signs a run in the role ``author``: the file of their key, and its password where it has one."""

    path: Path
    public: PublicKey
    password: Password = field(repr=False)

    @classmethod
    def of(cls, path: Path, password: Password) -> Author:
        """Read the key in a file, asking for its password once. Raises DataError where it cannot be used."""
        asked: list[bytes | None] = []

        def once() -> bytes | None:
            if not asked:
                asked.append(password())
            return asked[0]

        return cls(path, read_signing_key(path, once).public, once)

    def sign(self, run: Path) -> None:
        """Sign all releases of a run, in an object store too."""
        sign(run, self.path, AUTHOR, password=self.password)


_ON_SIGNERS = ("approvals", "approvals.signers")
"""Floors that may say which file it is."""


def check_author(plan: Plan, out: Path, author: Author | None) -> None:
    """Look before the work at what would make a held or signed run end in vain.

    Raises UsageError where the run is to go to an object store (PPF469), which has no rename that makes a release, or
    where the list of signers does not let the author sign (PPF967); PolicyError where it is none.
    """
    if plan.approvals is not None and is_bucket(out):
        text = "a run that people have to approve cannot go to an object store: it is released later, by one rename"
        raise UsageError(Diagnostic("PPF469", text, help="give a folder with `--out`, and copy what is released"))
    if plan.approvals is None:
        return
    signers = read_signers(Path(plan.approvals.signers))
    if author is None:
        return
    signer = signers.of_key(author.public.key_id)
    why = "no signer has this key" if signer is None else signer.refusal(AUTHOR, utc_now())
    if why:
        text = f"the key of `--sign` cannot sign as `{AUTHOR}`: {why}"
        help_ = f"`{Path(plan.approvals.signers).name}` says who may: give them the role `{AUTHOR}`"
        raise UsageError(Diagnostic("PPF967", text, help=help_))


def with_own_signers(tree: Mapping[str, Any], plan: Plan) -> Mapping[str, Any]:
    """Return a resolved policy that names the copy of the list of signers which lies beside it in the run.

    A floor on the file means the copy then: the manifest has its hash, and nobody puts another one there.
    """
    if plan.approvals is None or not isinstance(tree.get("approvals"), Mapping):
        return tree
    name = document(plan)["approvals"]["signers"]
    own = {**tree, "approvals": {**tree["approvals"], "signers": name}}
    floors = tree.get("floors")
    if isinstance(floors, Mapping) and not floors.keys().isdisjoint(_ON_SIGNERS):
        others = {place: demand for place, demand in floors.items() if place not in _ON_SIGNERS}
        own["floors"] = {**others, _ON_SIGNERS[-1]: EqualTo.of(name).text}
    return own
