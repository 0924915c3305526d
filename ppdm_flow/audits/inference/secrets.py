"""The released columns that are attacked, the columns that distinguish people, and figures over several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ppdm_flow.audits.records.columns import quasi_identifiers
from ppdm_flow.core.results import Figure
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


def summarized(each: Mapping[str, Mapping[str, Figure]], units: Mapping[str, str]) -> dict[str, Figure]:
    """Return, for every name in ``units``, its worst figure and then, after a dot, that of each attribute.

    ``each`` has the figures by attribute. The worst is the highest; without an attribute there is none.
    """
    if not each:
        return {n: Figure(None, u, note="no sensitive attribute is released") for n, u in units.items()}
    worst = {n: _worst([mine[n] for mine in each.values()]) for n in units}
    return worst | {f"{s}.{n}": figure for s, mine in each.items() for n, figure in mine.items()}


def _worst(figures: list[Figure]) -> Figure:
    return max(figures, key=lambda f: -1.0 if f.value is None else f.value)
