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


SECTIONS: tuple[Section, ...] = (
    Section("/policies", "policies.title", frozenset({Role.STEWARD, Role.APPROVER})),
    Section("/approvals", "approvals.title", frozenset({Role.STEWARD, Role.APPROVER})),
    Section("/waivers", "waivers.title", frozenset({Role.STEWARD, Role.APPROVER})),
    Section("/shown", "shown.title", frozenset({Role.STEWARD})),
    Section("/key", "keys.title", frozenset({Role.STEWARD, Role.APPROVER})),
    Section("/accounts", "accounts.section", frozenset({Role.ADMINISTRATOR})),
    Section("/journal", "journal.section", frozenset({Role.ADMINISTRATOR})),
    Section("/uploads", "uploads.section", frozenset({Role.STEWARD})),
    Section("/runs", "runs.title", frozenset({Role.STEWARD, Role.APPROVER})),
    Section("/jobs", "jobs.title", frozenset({Role.STEWARD, Role.APPROVER})),
    Section("/explain", "explain.title", frozenset(Role)),
    Section("/released", "guests.section", frozenset({Role.GUEST, Role.STEWARD, Role.APPROVER})),
)
"""In the order of the navigation."""


def sections(user: User) -> list[Section]:
    """Return the sections that somebody may open."""
    return [section for section in SECTIONS if user.has(*section.roles)]
