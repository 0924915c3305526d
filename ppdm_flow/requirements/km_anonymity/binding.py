"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.km_anonymity import clause, requirement


def bind(entry: clause.KmAnonymity, place: ClausePlace) -> requirement.KmAnonymity:
    """Return what an entry at that place asks for."""
    return requirement.KmAnonymity(place.id, place.sets(entry.attribute), entry.k, entry.m, place.span)
