"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.delta_disclosure import clause, requirement


def bind(entry: clause.DeltaDisclosure, place: ClausePlace) -> requirement.DeltaDisclosure:
    """Return what an entry at that place asks for."""
    return requirement.DeltaDisclosure(place.id, place.name, entry.delta, place.grouped(entry.attributes), place.span)
