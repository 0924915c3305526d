"""The sections of the page in its navigation: each is shown to who may open it."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.page.services.accounts.roles import PageRole, User


@dataclass(frozen=True, slots=True)
class Section:
    """A link of the navigation; ``text`` is its key in the catalogue, and ``<text>_help`` that of its sentence."""

    address: str
    text: str
    roles: frozenset[PageRole]


_STEWARDS = frozenset({PageRole.STEWARD})
_STEWARDS_AND_APPROVERS = frozenset({PageRole.STEWARD, PageRole.APPROVER})
_ADMINISTRATORS = frozenset({PageRole.ADMINISTRATOR})
_READERS = frozenset({PageRole.GUEST, PageRole.STEWARD, PageRole.APPROVER})

SECTIONS: tuple[Section, ...] = (
    Section("/uploads", "uploads.section", _STEWARDS),
    Section("/policies", "policies.title", _STEWARDS_AND_APPROVERS),
    Section("/runs", "runs.title", _STEWARDS_AND_APPROVERS),
    Section("/approvals", "approvals.title", _STEWARDS_AND_APPROVERS),
    Section("/waivers", "waivers.title", _STEWARDS_AND_APPROVERS),
    Section("/shown", "shown.title", _STEWARDS),
    Section("/released", "guests.section", _READERS),
    Section("/jobs", "jobs.title", _STEWARDS_AND_APPROVERS),
    Section("/key", "keys.title", _STEWARDS_AND_APPROVERS),
    Section("/accounts", "accounts.section", _ADMINISTRATORS),
    Section("/journal", "journal.section", _ADMINISTRATORS),
    Section("/explain", "explain.title", frozenset(PageRole)),
)
"""In the order of the navigation."""


def sections(user: User) -> list[Section]:
    """Return the sections that somebody may open."""
    return [section for section in SECTIONS if user.has(*section.roles)]
