"""Templates that no table at all can satisfy together.

Everybody is in some group, so what a template says of every group it says of the whole table: at most h of its rows
have the value, or, negated, at least 1 - h have it. Of one attribute's values the shares add up to at most 1. So there
are two ways to conflict: a value is to be both rarer and more frequent than possible, or the values that negated
templates want present need more than all rows. What else cannot hold depends on the data, and fails by itself. Of an
attribute that no release has, every template holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.requirements.templates.requirement import InferenceTemplate

Pair = tuple[str, str]
Bound = tuple[float, str]
"""A share of rows and the template that asks for it."""


def conflicts(
    templates: Sequence[InferenceTemplate], released: Collection[str], nulls: Nulls, places: ResolvedPlaces
) -> Iterator[Diagnostic]:
    """Report the smallest set of templates that conflicts, for each ``released`` attribute or value that has one."""
    if nulls is not Nulls.OWN_CATEGORY:
        return
    most = _strictest(templates, released, negated=False)
    least = {pair: (1.0 - h, name) for pair, (h, name) in _strictest(templates, released, negated=True).items()}
    clashing = [pair for pair in least if pair in most and least[pair][0] > most[pair][0] + TOLERANCE]
    for pair in clashing:
        yield _of_value(places, most[pair], least[pair])
    for attribute in dict.fromkeys(a for a, _ in least):
        wanted = {pair: share for pair, share in least.items() if pair[0] == attribute}
        if not any(pair in clashing for pair in wanted):
            yield from _of_attribute(places, attribute, wanted)


def _strictest(
    templates: Sequence[InferenceTemplate], released: Collection[str], *, negated: bool
) -> dict[Pair, Bound]:
    """The lowest confidence that is asked for of each value, among the attributes that some release has."""
    strictest: dict[Pair, Bound] = {}
    for template in templates:
        if template.negated is negated:
            for pair in template.pairs:
                if pair[0] in released and (pair not in strictest or template.confidence < strictest[pair][0]):
                    strictest[pair] = (template.confidence, template.name)
    return strictest


def _of_value(places: ResolvedPlaces, most: Bound, least: Bound) -> Diagnostic:
    return _fault(
        places,
        f"templates `{most[1]}` and `{least[1]}` contradict each other: a value that at most {most[0]:.4g} of the rows"
        f" may have would have to be in at least {least[0]:.4g} of them",
        least[1],
        "their confidences must add up to at least 1",
        _related(places, most[1], "this one bounds the same value from above"),
    )


def _of_attribute(places: ResolvedPlaces, attribute: str, wanted: dict[Pair, Bound]) -> Iterator[Diagnostic]:
    """The templates that want most first: no smaller set of them needs more than all rows."""
    shares: dict[str, list[float]] = {}
    for share, name in wanted.values():
        shares.setdefault(name, []).append(share)
    total, values, by = 0.0, 0, []
    for name in sorted(shares, key=lambda n: -sum(shares[n])):
        total, values = total + sum(shares[name]), values + len(shares[name])
        by.append(name)
        if total > 1.0 + TOLERANCE:
            break
    else:
        return
    who = (
        f"template `{by[0]}` contradicts itself"
        if len(by) == 1
        else f"templates {listed([f'`{name}`' for name in by])} contradict each other"
    )
    yield _fault(
        places,
        f"{who}: {values} values of `{attribute}` would need {total:.4g} of the rows together",
        by[0],
        "raise their confidences: 1 minus confidence is the share of rows that a negated template wants",
        tuple(r for n in by[1:] for r in _related(places, n, "and this one")),
    )


def _fault(
    places: ResolvedPlaces, message: str, template: str, hint: str, related: tuple[RelatedPlace, ...]
) -> Diagnostic:
    path = ("privacy", "templates", template)
    return Diagnostic("PPF566", message, places.key(*path), hint=hint, related=related, path=path)


def _related(places: ResolvedPlaces, template: str, text: str) -> tuple[RelatedPlace, ...]:
    span = places.key("privacy", "templates", template)
    return (RelatedPlace(span, text),) if span else ()
