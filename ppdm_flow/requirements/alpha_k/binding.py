"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.alpha_k import clause, requirement


def bind(entry: clause.AlphaK, place: ClausePlace) -> requirement.AlphaK:
    """Return what an entry at that place asks for."""
    return requirement.AlphaK(
        id=place.id,
        attribute=place.name,
        alpha=entry.alpha,
        attributes=place.grouped(entry.attributes),
        values=entry.values or (),
        span=place.span,
        values_absent=entry.values_absent,
    )
