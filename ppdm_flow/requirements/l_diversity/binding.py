"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.l_diversity import clause, requirement


def bind(entry: clause.LDiversity, place: ClausePlace) -> requirement.LDiversity:
    """Return what an entry at that place asks for."""
    grouped = place.grouped(entry.attributes)
    return requirement.LDiversity(place.id, place.name, entry.l, grouped, entry.kind, entry.c, place.span)
