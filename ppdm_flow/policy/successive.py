"""The people whose rows a ledger remembers."""

from __future__ import annotations

from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.models import Policy


def subject_of(policy: Policy) -> str | None:
    """Return the attribute that names the person behind a row; None without a ledger or such an attribute."""
    if policy.ledger is None:
        return None
    named = (name for name, a in policy.attributes.items() if a.role is Role.SUBJECT)
    return policy.ledger.subject or next(named, None)
