"""The files that a policy is made of: who asks for a run means what they said then."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ppdm_flow.core.digests import sha256
from ppdm_flow.page.services.policies.checks import Checks
from ppdm_flow.page.services.policies.policies import PolicyText


def files_of(checks: Checks, policy: PolicyText) -> Mapping[Path, str]:
    """Return the SHA-256 of a policy's file, as it was read, and of every file that was read for it."""
    own = checks.policies.path(policy.name)
    others = (Path(name) for name in checks.check(policy.name, policy.text).sources)
    return {**{path: sha256(path) for path in others if path.is_absolute() and path.is_file()}, own: policy.digest}
