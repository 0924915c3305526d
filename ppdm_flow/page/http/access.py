"""Who may ask for an address."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.page.services.accounts.roles import PageRole, User


@dataclass(frozen=True, slots=True)
class Access:
    """``public``: everybody, signed in or not; else somebody who has one of the ``roles``."""

    roles: frozenset[PageRole] = frozenset()
    public: bool = False

    def allows(self, user: User | None) -> bool:
        """Whether this person may."""
        return self.public or (user is not None and user.has(*self.roles))


PUBLIC = Access(public=True)
SIGNED_IN = Access(frozenset(PageRole))
READERS = Access(frozenset({PageRole.GUEST, PageRole.STEWARD, PageRole.APPROVER}))
STEWARDS = Access(frozenset({PageRole.STEWARD}))
STEWARDS_AND_APPROVERS = Access(frozenset({PageRole.STEWARD, PageRole.APPROVER}))
APPROVERS = Access(frozenset({PageRole.APPROVER}))
ADMINISTRATORS = Access(frozenset({PageRole.ADMINISTRATOR}))
