"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.anonymity_score import clause, requirement


def bind(entry: clause.AnonymityScore, place: ClausePlace) -> requirement.AnonymityScore:
    """Return what an entry at that place asks for."""
    return requirement.AnonymityScore(place.id, entry.max, place.span)
