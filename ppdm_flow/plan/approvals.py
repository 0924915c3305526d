"""What a run waits for before it is released: the signatures of roles, by people whom the signers file names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.waivers import Waiver
from ppdm_flow.plan.definition import Approvals
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Places

_SIGNERS = ("approvals", "signers")


def approvals_of(
    policy: Policy, waivers: Iterable[Waiver], home: str, places: Places
) -> tuple[Approvals | None, list[Diagnostic]]:
    """Return who has to sign, with what is wrong with the signers file; None where the policy asks for nobody."""
    given = policy.approvals
    if given is None:
        return None, []
    path = os.path.normpath(os.path.join(home, given.signers))  # noqa: PTH118  (text, not a Path)
    signed = {waiver.name: waiver.signed_by for waiver in waivers if waiver.signed_by}
    roles = tuple(dict.fromkeys(given.roles))
    try:
        digest = sha256(Path(path))
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or type(error).__name__).lower()
        text = f"cannot read the signers file `{Path(path).name}`: {reason}"
        return None, [Diagnostic("PPF340", text, places.value(*_SIGNERS), path=_SIGNERS)]
    return Approvals(roles, given.distinct, path, digest, signed), []
