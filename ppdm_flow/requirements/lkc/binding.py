"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.lkc import clause, requirement


def bind(entry: clause.LKC, place: ClausePlace) -> requirement.LKC:
    """Return what an entry at that place asks for."""
    return requirement.LKC(
        id=place.id,
        l=entry.l,
        k=entry.k,
        attributes=place.grouped(entry.attributes),
        c=entry.c,
        sensitive=tuple((name, value) for name, values in entry.sensitive.items() for value in values),
        span=place.span,
        values_absent=entry.values_absent,
    )
