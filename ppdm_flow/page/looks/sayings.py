"""Texts that a page may say once after a form was sent: no other text can be put there by an address."""

from __future__ import annotations

SAYINGS: frozenset[str] = frozenset(
    {
        "accounts.opened",
        "accounts.password_changed",
        "accounts.roles_changed",
        "accounts.sessions_ended",
        "accounts.signed_out",
        "accounts.was_locked",
        "accounts.was_unlocked",
        "jobs.is_cancelled",
        "policies.committed",
        "policies.created",
        "policies.renamed",
        "policies.restored",
        "policies.saved",
        "policies.was_removed",
        "uploads.added",
        "uploads.removed",
        "approvals.is_out",
        "keys.deleted",
        "shown.done",
        "shown.taken_back",
    }
)
