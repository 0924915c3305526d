"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.mining.populations.population import Population
from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.k_map import clause, requirement


def bind(entry: clause.KMap, place: ClausePlace) -> requirement.KMap:
    """Return what an entry at that place asks for."""
    told = entry.population
    people = Population(told.path, tuple(told.columns.items()), told.delimiter)
    return requirement.KMap(place.id, entry.k, place.grouped(entry.attributes), people, place.span)
