"""The entry of a policy as a requirement."""

from __future__ import annotations

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.t_closeness import clause, requirement
from ppdm_flow.requirements.t_closeness.requirement import Distance


def bind(entry: clause.TCloseness, place: ClausePlace) -> requirement.TCloseness:
    """Return what an entry at that place asks for: of a text, the domain's order unless it says another."""
    return requirement.TCloseness(
        id=place.id,
        attribute=place.name,
        t=entry.t,
        attributes=place.grouped(entry.attributes),
        distance=entry.distance,
        order=_order(entry, place),
        span=place.span,
        values_absent=entry.values_absent,
    )


def _order(entry: clause.TCloseness, place: ClausePlace) -> tuple[str, ...]:
    if entry.distance is not Distance.ORDERED:
        return ()
    attribute = place.attribute
    texts = attribute is not None and attribute.type is AttributeType.TEXT
    return entry.order or ((attribute.domain or ()) if attribute is not None and texts else ())
