"""The files that a policy is made of: who asks for a run means what they said then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ppdm_flow.api.drafts.check import DraftCheck
from ppdm_flow.core.digests import digest, sha256
from ppdm_flow.page.services.policies.checks import Checks
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.services.policies.reach import texts
from ppdm_flow.plan.locked import files_of as definitions_of

_NO_DEFINITIONS = frozenset({"source", "tables", "ledger", "releases"})
"""Parts of a policy whose files may change while it stays the same: data, ledgers, what is made."""
_LONGEST = 1024
"""Characters that a path may have."""


def files_of(checks: Checks, policy: PolicyText) -> Mapping[Path, str]:
    """Return the SHA-256 of a policy's file, as it was read, and of every file that says what it means.

    These are templates, the project file, hierarchies, lists of signers, populations.
    """
    own = checks.policies.path(policy.name)
    checked = checks.check(policy.name, policy.text)
    read = (Path(name) for name in checked.sources)
    found = {path for path in (*read, *_named(checked, own.parent)) if path.is_absolute() and path.is_file()}
    return {**{path: sha256(path) for path in found}, own: policy.digest}


def digest_of(files: Mapping[Path, str]) -> str:
    """Return one digest of what somebody looked at, which a form sends with what it asks for."""
    return digest({str(path): each for path, each in files.items()})


def _named(checked: DraftCheck, home: Path) -> Iterator[Path]:
    if checked.plan is not None:
        yield from (Path(path) for path, _ in definitions_of(checked.plan))
    if checked.loaded is not None:
        named = {name: part for name, part in checked.loaded.tree.items() if name not in _NO_DEFINITIONS}
        yield from (home / text for text in texts(named) if "\0" not in text and len(text) < _LONGEST)
