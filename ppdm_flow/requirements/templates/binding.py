"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.templates import clause, requirement


def bind(entry: clause.Template, place: ClausePlace) -> requirement.Template:
    """Return what an entry at that place asks for."""
    return requirement.Template(
        id=place.id,
        name=place.name,
        channel=entry.channel,
        sensitive=tuple((attribute, value) for attribute, values in entry.sensitive.items() for value in values),
        confidence=entry.confidence,
        span=place.span,
        negated=entry.negated,
        min_support=entry.min_support or 1,
        values_absent=entry.values_absent,
    )
