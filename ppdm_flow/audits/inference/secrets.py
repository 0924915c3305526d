"""Which released columns are attacked, and by which people are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdm_flow.audits.quasi_identifiers import quasi_identifiers
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import released
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class Secrets:
    """``columns`` tell people apart; ``secrets`` are what the attacker wants."""

    columns: tuple[str, ...]
    secrets: tuple[str, ...]

    def beside(self, secret: str) -> tuple[str, ...]:
        """Return what tells people apart to someone who wants ``secret``."""
        return tuple(c for c in self.columns if c != secret)


def secrets_of(
    attributes: Sequence[str] | None, sensitive: Sequence[str] | None, candidate: DataView, ctx: AuditContext
) -> Secrets:
    """Return the quasi-identifiers and the sensitive attributes, or those named in their place."""
    wanted = candidate.schema.having(Role.SENSITIVE) if sensitive is None else released(sensitive, candidate, ctx)
    return Secrets(quasi_identifiers(attributes, candidate, ctx), tuple(wanted))
