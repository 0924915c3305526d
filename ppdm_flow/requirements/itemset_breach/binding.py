"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.itemset_breach import clause, requirement


def bind(entry: clause.ItemsetBreach, place: ClausePlace) -> requirement.ItemsetBreach:
    """Return what an entry at that place asks for."""
    return requirement.ItemsetBreach(
        id=place.id,
        attribute=place.sets(entry.attribute),
        level=entry.level,
        sizes=tuple(sorted(set(entry.sizes))),
        max_supports=entry.max_supports or (),
        max_supports_by_length=tuple(sorted((int(m), s) for m, s in entry.max_supports_by_length.items())),
        pool=entry.pool,
        span=place.span,
    )
