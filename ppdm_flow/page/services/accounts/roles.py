"""The four roles of accounts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PageRole(StrEnum):
    """What somebody may do; an account may have several."""

    GUEST = "guest"
    """Read released tables that are shown to guests, with their data sheets."""
    STEWARD = "steward"
    """Write policies, upload tables, run, release what has its approvals."""
    APPROVER = "approver"
    """Sign held runs of others in a role of the policy's approvals."""
    ADMINISTRATOR = "administrator"
    """Make and lock accounts, read the journal; no data."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who is signed in."""

    id: int
    name: str
    roles: frozenset[PageRole]

    def has(self, *roles: PageRole) -> bool:
        """Whether the account has one of the roles."""
        return not self.roles.isdisjoint(roles)
