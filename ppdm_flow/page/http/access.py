"""Who may ask for an address."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.page.services.accounts.roles import Role, User


@dataclass(frozen=True, slots=True)
class Access:
    """``public``: everybody, signed in or not; else somebody who has one of the ``roles``."""

    roles: frozenset[Role] = frozenset()
    public: bool = False

    def allows(self, user: User | None) -> bool:
        """Whether this person may."""
        return self.public or (user is not None and user.has(*self.roles))


PUBLIC = Access(public=True)
SIGNED_IN = Access(frozenset(Role))
READERS = Access(frozenset({Role.GUEST, Role.STEWARD, Role.APPROVER}))
STEWARDS = Access(frozenset({Role.STEWARD}))
STEWARDS_AND_APPROVERS = Access(frozenset({Role.STEWARD, Role.APPROVER}))
APPROVERS = Access(frozenset({Role.APPROVER}))
ADMINISTRATORS = Access(frozenset({Role.ADMINISTRATOR}))
