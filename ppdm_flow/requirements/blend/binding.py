"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.blend import clause, requirement


def bind(entry: clause.Blend, place: ClausePlace) -> requirement.Blend:
    """Return what an entry at that place asks for."""
    return requirement.Blend(place.id, entry.min_support, entry.max, place.span)
