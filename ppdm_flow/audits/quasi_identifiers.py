"""Which released columns form the equivalence classes."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import released
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


def quasi_identifiers(attributes: Sequence[str] | None, candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns of these attributes, or of all quasi-identifiers."""
    if attributes is None:
        return candidate.schema.having(Role.QUASI_IDENTIFIER)
    return released(attributes, candidate, ctx)
