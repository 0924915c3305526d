"""The ledger of a policy, with its paths found."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.plan.definition import LedgerNode
from ppdm_flow.policy.models import Policy
from ppdm_flow.policy.successive import subject_of


def ledger_node(policy: Policy, home: Path) -> LedgerNode | None:
    """Return the ledger, or None where the policy has none."""
    given = policy.ledger
    if given is None:
        return None
    path = home / given.path
    key = home / given.key if given.key else path.with_name(f"{path.name}.key")
    return LedgerNode(str(path), str(key), subject_of(policy), given.repeat)
