"""The ledger of a policy, with its paths found."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.core.server_address import AddressError, server_address
from ppdm_flow.plan.definition import LedgerNode
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.successive import subject_of


def ledger_node(policy: Policy, home: Path) -> LedgerNode | None:
    """Return the ledger, or None where the policy has none, or its place is at fault."""
    given = policy.ledger
    if given is None:
        return None
    subject, ignore = subject_of(policy), tuple(sorted(set(given.ignore)))
    if given.url is not None and given.key is not None:
        try:
            server = server_address(given.url).name
        except AddressError:
            return None
        return LedgerNode(given.url, str(home / given.key), subject, given.repeat, server, ignore)
    if given.path is None:
        return None
    path = home / given.path
    key = home / given.key if given.key else path.with_name(f"{path.name}.key")
    return LedgerNode(str(path), str(key), subject, given.repeat, ignore=ignore)
