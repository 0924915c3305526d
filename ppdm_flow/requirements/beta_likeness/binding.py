"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.beta_likeness import clause, requirement


def bind(entry: clause.BetaLikeness, place: ClausePlace) -> requirement.BetaLikeness:
    """Return what an entry at that place asks for."""
    return requirement.BetaLikeness(place.id, place.name, entry.beta, place.grouped(entry.attributes), place.span)
