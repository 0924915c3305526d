"""Addresses: each says who may ask for it, and what it is called in the journal where it changes something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.accounts.roles import PageRole, User

Endpoint = Callable[[Call], Response]
LINE = 1_000
"""Characters of a field that has no limit of its own: a name, a password, a choice."""
ANY_FIELD = "*"


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


@dataclass(frozen=True, slots=True)
class PageRoute:
    """One address. ``action`` is how the journal calls what a POST does; a route without one only reads.

    ``subject`` names the part of the address that is written down with the action: a policy's or a run's name.
    ``takes_file``: the form may have a file, which is ``arrived`` of the call. ``asks``: a form is sent there, of which
    nothing is kept: what it answers with, it could be asked again. ``hashes``: a password is hashed, which takes memory
    and time. ``long_fields``: the most characters of fields that may be longer than ``LINE``; ``ANY_FIELD`` names all
    others.
    """

    path: str
    endpoint: Endpoint
    access: Access
    action: str = ""
    subject: str = ""
    takes_file: bool = False
    asks: bool = False
    hashes: bool = False
    long_fields: Mapping[str, int] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """GET for what reads, POST for what changes or is asked with a form."""
        return "POST" if self.action or self.asks else "GET"


def reads(path: str, endpoint: Endpoint, access: Access) -> PageRoute:
    """Return an address that changes nothing."""
    return PageRoute(path, endpoint, access)


def asks(path: str, endpoint: Endpoint, access: Access, long_fields: Mapping[str, int] | None = None) -> PageRoute:
    """Return an address that a form is sent to and that changes nothing: it is not in the journal."""
    return PageRoute(path, endpoint, access, asks=True, long_fields=long_fields or {})


def changes(
    path: str,
    endpoint: Endpoint,
    access: Access,
    action: str,
    subject: str = "",
    *,
    takes_file: bool = False,
    hashes: bool = False,
    long_fields: Mapping[str, int] | None = None,
) -> PageRoute:
    """Return an address that forms are sent to; ``action`` is ``feature.verb``."""
    return PageRoute(path, endpoint, access, action, subject, takes_file, hashes=hashes, long_fields=long_fields or {})
