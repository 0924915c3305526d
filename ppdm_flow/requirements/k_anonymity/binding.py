"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.k_anonymity import clause, requirement


def bind(entry: clause.KAnonymity, place: ClausePlace) -> requirement.KAnonymity:
    """Return what an entry at that place asks for."""
    return requirement.KAnonymity(place.id, entry.k, place.grouped(entry.attributes), place.span)
