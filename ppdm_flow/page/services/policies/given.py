"""The files that a policy is made of: who asks for a run means what they said then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ppdm_flow.core.digests import digest, sha256
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.policies.checks import Checks
from ppdm_flow.page.services.policies.policies import PolicyText


def files_of(checks: Checks, policy: PolicyText) -> Mapping[Path, str]:
    """Return the SHA-256 of a policy's file, as it was read, and of every file that says what it means.

    These are templates, the project file, hierarchies, lists of signers, populations. Raises LimitExceededError where
    that takes too long.
    """
    own, files = checks.policies.path(policy.name), checks.check(policy.name, policy.text).files
    return {**CHECKS.run(digests, files), own: policy.digest}


def digests(files: Iterable[str]) -> Mapping[Path, str]:
    """Return the SHA-256 of files."""
    return {Path(file): sha256(Path(file)) for file in files}


def digest_of(files: Mapping[Path, str]) -> str:
    """Return one digest of what somebody looked at, which a form sends with what it asks for."""
    return digest({str(path): each for path, each in files.items()})
