"""The kind of requirement `templates`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from ppdm_flow.core.asks import class_counts
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Failure, Wording
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.rules.grouping import grouping, sensitive_values
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.templates.requirement import InferenceTemplate, SensitiveChoice, may_be_chosen
from ppdm_flow.sdk.spec import Params, requirement_audit

Pair = tuple[str, str]
Bound = tuple[float, str]
"""A share of rows and the template that asks for it."""


# What can be wrong with inference templates.


_OTHER_ROLE = "PPF503"
"""A protected attribute with another role: of a chosen one the policy could not know before."""
_NO_CLASS = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.SAMPLING_WEIGHT, Role.ITEMS)


def judge(scene: Scene, entries: Mapping[str, InferenceTemplate]) -> Iterator[Diagnostic]:
    """Judge them (PPF492, PPF493, PPF500 to PPF508)."""
    for name, template in entries.items():
        yield from _channel(scene, name, template)
        yield from _sensitive(scene, name, template)
        if template.choice is not None:
            yield from _choice(scene, name, template.choice)
    yield from redundant(scene, entries)


def _channel(scene: Scene, name: str, template: InferenceTemplate) -> Iterator[Diagnostic]:
    path = ("privacy", "templates", name, "channel")
    yield from repeats(scene, template.channel, path, "`channel`")
    yield from grouping(scene, template.channel, path, "part of a channel")
    for i, attribute in enumerate(template.channel):
        if attribute in template.values:
            yield scene.fault(
                "PPF501",
                f"the channel of template `{name}` holds its own sensitive attribute `{short(attribute)}`",
                (*path, str(i)),
                hint="every value would be inferred from itself",
                related=scene.related((*path[:-1], "sensitive", attribute), "sensitive here"),
            )


def _sensitive(scene: Scene, template_name: str, template: InferenceTemplate) -> Iterator[Diagnostic]:
    for name, values in template.values.items():
        path = ("privacy", "templates", template_name, "sensitive", name)
        for fault in sensitive_values(scene, name, values, path):
            if not (template.chosen_from_data and fault.code == _OTHER_ROLE):
                yield fault


def _choice(scene: Scene, template_name: str, choice: SensitiveChoice) -> Iterator[Diagnostic]:
    """Judge a choice as far as it can be without data, and say that the rest cannot."""
    path = ("privacy", "templates", template_name, "sensitive")
    attribute, faults = scene.attribute(choice.target, (*path, "target"))
    yield from faults
    if attribute is not None and attribute.role in _NO_CLASS:
        yield scene.unfit(choice.target, attribute.role, (*path, "target"), "the class that attributes are ranked by")
    if scene.policy.tables:
        text = f"the sensitive values of template `{template_name}` cannot be chosen from linked tables"
        yield scene.fault("PPF493", text, path, at_key=True, hint="name the values")
        return
    attributes = scene.policy.attributes
    names = [n for n, a in attributes.items() if n != choice.target and may_be_chosen(a.role, a.type)]
    known = not scene.lacks("attributes") and not any(is_pattern(name) for name in attributes)
    if known and len(names) < choice.top:
        text = f"`top` asks for {counted(choice.top, 'attribute')}, and only {len(names)} can be chosen"
        hint = "texts that are sensitive, insensitive or quasi-identifiers can be"
        yield scene.fault("PPF493", text, (*path, "top"), hint=hint)
        return
    yield scene.fault(
        "PPF492",
        f"what template `{template_name}` protects is chosen from the data: without data nothing is said of it",
        path,
        at_key=True,
        warning=True,
        hint="`ppdm-flow plan --data FILE` says what is chosen",
    )


# Templates that no table at all can satisfy together.
#
# Everybody is in some group, so what a template says of every group it says of the whole table: at most h of its rows
# have the value, or, negated, at least 1 - h have it. Of one attribute's values the shares add up to at most 1. So
# there are two ways to conflict: a value is to be both rarer and more frequent than possible, or the values that
# negated templates want present need more than all rows. What else cannot hold depends on the data, and fails by
# itself. Of an attribute that no release has, every template holds.


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


# Templates that another one already implies (Lemma 3.1 of Wang, Fung, Yu, ICDM 2005).
#
# A group over fewer attributes is a union of disjoint groups over more of them, so its confidence is a weighted mean of
# theirs: <IC -> pi, h> implies <IC' -> pi, h'> where IC' is part of IC and h <= h'. The union is disjoint only where a
# missing value is a category of its own. With wildcards a row counts in the crowds of several, and with exclusion a row
# counts for IC' that does not count for IC, so then nothing is implied.


ProtectedValue = tuple[str, str, bool]
"""An attribute with a value, and whether it is the value's absence that must not be inferred."""


def redundant(scene: Scene, templates: Mapping[str, InferenceTemplate]) -> Iterator[Diagnostic]:
    """Warn of each template that others make redundant, and name them."""
    if scene.policy.nulls is not Nulls.OWN_CATEGORY or scene.lacks("nulls"):
        return
    order = {name: i for i, name in enumerate(templates)}
    pairs = {name: _pairs(template) for name, template in templates.items()}
    names_of: dict[ProtectedValue, list[str]] = {}
    for name, protected in pairs.items():
        for pair in protected:
            names_of.setdefault(pair, []).append(name)
    for name, template in templates.items():
        sharing = {n for pair in pairs[name] for n in names_of[pair]} - {name}
        stronger = [
            n
            for n in sorted(sharing, key=order.__getitem__)
            if implies(templates[n], template) and (not implies(template, templates[n]) or order[n] < order[name])
        ]
        by = _cover(pairs[name], {n: pairs[n] for n in stronger})
        if by:
            yield _redundant(scene, name, by)


def implies(one: InferenceTemplate, other: InferenceTemplate) -> bool:
    """Whether ``one`` has a channel and a threshold that bound every value which both protect."""
    return (
        set(one.channel) >= set(other.channel)
        and one.confidence <= other.confidence
        and (one.min_support or 1) >= (other.min_support or 1)
    )


def _cover(protected: AbstractSet[ProtectedValue], stronger: Mapping[str, AbstractSet[ProtectedValue]]) -> list[str]:
    """Templates that together protect all these values; none where they do not."""
    open_ = set(protected)
    by = []
    for name, pairs in stronger.items():
        if open_ & pairs:
            by.append(name)
            open_ -= pairs
    return [] if open_ else by


def _pairs(template: InferenceTemplate) -> set[ProtectedValue]:
    return {(name, value, template.negated) for name, values in template.values.items() for value in values}


def _redundant(scene: Scene, name: str, by: list[str]) -> Diagnostic:
    spans = [(n, scene.places.key("privacy", "templates", n)) for n in by]
    names = " and ".join(f"`{n}`" for n in by)
    return scene.fault(
        "PPF508",
        f"template `{name}` is redundant: {names} already {'implies' if len(by) == 1 else 'imply'} it",
        ("privacy", "templates", name),
        at_key=True,
        warning=True,
        hint="remove it",
        note="a channel with more attributes and a threshold at most as high bounds every group over fewer of them",
        related=tuple(RelatedPlace(s, "this one is at least as strict") for _, s in spans if s),
    )


class TemplatesParams(Params):
    """It has none: the requirements say it all."""


AUDIT = requirement_audit(
    "templates",
    "ppdm_flow.requirements.templates.algorithm:TemplatesAudit",
    params=TemplatesParams,
    asks=class_counts(passes=4),
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    of = "confidence of not" if requirement.get("negated") else "confidence"
    support = f", groups ≥ {requirement['min_support']}" if "min_support" in requirement else ""
    name = requirement["id"].removeprefix("privacy.templates.")
    return f"{name}: {of} ≤ {requirement['confidence']:g}{support}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return (
            f"{failure.who} works at it, so something undoes it or it may not suppress what it would need to:"
            " look at the steps after it, and at its `attributes` and `templates`."
        )
    return (
        "Add `hide: {use: progressive_disclosure}` as the last step before the release: it suppresses as few values as"
        " its templates need."
    )


def draft(facts: DraftFacts) -> Draft | None:
    """Draft an example of a template: its value must come from people who know what is harmful."""
    if not facts.sensitive or not facts.quasi_identifiers:
        return None
    channel = [c["name"] for c in facts.quasi_identifiers][:3]
    body = {"channel": channel, "sensitive": {facts.sensitive[0]["name"]: ["VALUE"]}, "confidence": "0.5"}
    reason = "For the values that harm, a template says how surely they may be concluded at most:"
    return Draft(reason, {"no-VALUE": body}, comment=True)


WORDING = Wording(
    label="Inference template",
    clause=clause,
    advice=advice,
    section="What can be inferred",
    draft=draft,
)


SPEC = RequirementSpec(
    name="templates",
    requirement=InferenceTemplate,
    entries=Entries.BY_NAME,
    order="ppdm_flow.requirements.templates.order:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=20,
    conflicts=conflicts,
    foresees="ppdm_flow.requirements.templates.algorithm:foresee",
    chooses="ppdm_flow.requirements.templates.choosing:choose",
    value_places=(("sensitive", "*", "*"),),
    noun="template",
    holds_by_rows=lambda _entry: True,
)
