"""The entry of a policy as a requirement."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.policy.clause_place import ClausePlace
from ppdm_flow.requirements.sensitivities import clause, requirement


def bind(entry: clause.Sensitivity, place: ClausePlace) -> requirement.Sensitivity:
    """Return what an entry at that place asks for."""
    default, attribute = entry.default, place.attribute
    return requirement.Sensitivity(
        id=place.id,
        attribute=place.name,
        directions=entry.directions,
        bounds=(*_of_values(entry, place), *_of_groups(entry, place)),
        tolerance=default.tolerance if default else None,
        default=(default.r1, default.r2) if default and default.r1 is not None and default.r2 is not None else None,
        domain=attribute.domain if attribute else None,
        span=place.span,
        values_absent=entry.values_absent,
    )


def _of_values(entry: clause.Sensitivity, place: ClausePlace) -> Iterator[requirement.ValueBound]:
    for value, several in entry.values.items():
        here = (*place.path, "values", value)
        for i, bound in enumerate(several):
            span = place.places.key(*here) if len(several) == 1 else place.places.value(*here, str(i))
            yield requirement.ValueBound(value, bound.r1, bound.r2, span, bound.given)


def _of_groups(entry: clause.Sensitivity, place: ClausePlace) -> Iterator[requirement.ValueBound]:
    for name, group in entry.groups.items():
        for i, value in enumerate(group.values):
            span = place.places.value(*place.path, "groups", name, "values", str(i))
            yield requirement.ValueBound(value, group.r1, group.r2, span, group.given, name)
