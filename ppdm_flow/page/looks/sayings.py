"""Texts that a page may say once after a form was sent: no other text can be put there by an address."""

from __future__ import annotations

SAYINGS: frozenset[str] = frozenset(
    {
        "accounts.opened",
        "accounts.password_changed",
        "accounts.roles_changed",
        "accounts.sessions_ended",
        "accounts.signed_out",
        "accounts.unlinked",
        "accounts.was_locked",
        "accounts.was_unlocked",
        "approvals.is_out",
        "hierarchies.file_written",
        "jobs.is_cancelled",
        "keys.deleted",
        "policies.committed",
        "policies.created",
        "policies.renamed",
        "policies.restored",
        "policies.saved",
        "policies.was_removed",
        "shown.done",
        "shown.taken_back",
        "uploads.added",
        "uploads.removed",
        "uploads.row_added",
    }
)
