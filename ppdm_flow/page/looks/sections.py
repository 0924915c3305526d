"""The sections of the page in its navigation: each is shown to who may open it."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.page.services.accounts.roles import Role, User


@dataclass(frozen=True, slots=True)
class Section:
    """A link of the navigation; ``text`` is its key in the catalogue, and ``<text>_help`` that of its sentence."""

    address: str
    text: str
    roles: frozenset[Role]


_ADMINISTRATORS = frozenset({Role.ADMINISTRATOR})
_STEWARDS_AND_APPROVERS = frozenset({Role.STEWARD, Role.APPROVER})
SECTIONS: tuple[Section, ...] = (
    Section("/policies", "policies.title", _STEWARDS_AND_APPROVERS),
    Section("/accounts", "accounts.section", _ADMINISTRATORS),
    Section("/journal", "journal.section", _ADMINISTRATORS),
)


def sections(user: User) -> list[Section]:
    """Return the sections that somebody may open."""
    return [section for section in SECTIONS if user.has(*section.roles)]
