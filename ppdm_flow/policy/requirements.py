"""The typed policy's clauses as core values: what must hold, and which values the policy itself names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ppdm_flow.core.gate import Gate
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.class_requirements import class_requirements
from ppdm_flow.policy.language import models
from ppdm_flow.policy.language.patterns import Declared
from ppdm_flow.policy.loaded import Places
from ppdm_flow.policy.successive import successive
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity, ValueBound
from ppdm_flow.requirements.templates.requirement import Template


def requirements_of(policy: models.Policy, places: Places) -> tuple[Requirement, ...]:
    """Return every requirement under ``privacy:``, with its place; its id is its path.

    ``KAnonymity.attributes`` are all quasi-identifiers (patterns, where the policy declares patterns) unless the
    policy names its own.
    """
    found: list[Requirement] = []
    privacy = policy.privacy
    if privacy.k_anonymity is not None:
        found.append(_k_anonymity(privacy.k_anonymity, policy, places))
    found.extend(_template(name, template, places) for name, template in privacy.templates.items())
    found.extend(_sensitivity(name, each, policy, places) for name, each in privacy.sensitivities.items())
    found.extend(_generated(privacy, places))
    if privacy.itemset_breach is not None:
        found.append(_itemset_breach(privacy.itemset_breach, policy, places))
    found.extend(class_requirements(policy, places))
    found.extend(successive(policy, found, places))
    return tuple(found)


def gates_of(policy: models.Policy, places: Places) -> tuple[Gate, ...]:
    """Return every gate, with its place and the releases that it is about."""
    return tuple(
        Gate(
            f"gates.{name}",
            gate.metric,
            gate.min,
            gate.max,
            places.key("gates", name),
            _about(gate, policy),
            gate.max_width,
        )
        for name, gate in policy.gates.items()
    )


def _about(gate: models.Gate, policy: models.Policy) -> tuple[str, ...]:
    """Return what a gate says, its metric or its audit; else all releases. A step's figure is about none of them."""
    release, _, figure = gate.metric.rpartition("/")
    owner = figure.partition(".")[0]
    if owner in policy.steps:
        return ()
    audit = policy.audits.get(owner)
    only = release or (audit.release if audit else None)
    return tuple(dict.fromkeys(gate.releases or ((only,) if only else policy.releases)))


def declared_values(policy: models.Policy) -> Mapping[str, frozenset[str]]:
    """Return the values that the policy itself writes, by attribute (or pattern): these a report may show."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, attribute in policy.attributes.items():
        found[name].update(attribute.domain or ())
        if attribute.hierarchy is not None:
            found[name].update(attribute.hierarchy.order or ())
            for value, ancestors in (attribute.hierarchy.levels or {}).items():
                found[name].update((value, *ancestors))
    for template in policy.privacy.templates.values():
        for name, values in template.sensitive.items():
            found[name].update(values)
    for name, sensitivity in policy.privacy.sensitivities.items():
        found[name].update(sensitivity.values, *(group.values for group in sensitivity.groups.values()))
    for name, close in policy.privacy.t_closeness.items():
        found[name].update(close.order or ())
    for name, most in policy.privacy.alpha_k.items():
        found[name].update(most.values or ())
    for name, values in (policy.privacy.lkc.sensitive if policy.privacy.lkc else {}).items():
        found[name].update(values)
    return {name: frozenset(values) for name, values in sorted(found.items()) if values}


def _k_anonymity(model: models.KAnonymity, policy: models.Policy, places: Places) -> KAnonymity:
    attributes = model.attributes
    if attributes is None:
        attributes = tuple(n for n, a in policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
    return KAnonymity("privacy.k_anonymity", model.k, attributes, places.key("privacy", "k_anonymity"))


def _template(name: str, model: models.Template, places: Places) -> Template:
    return Template(
        id=f"privacy.templates.{name}",
        name=name,
        channel=model.channel,
        sensitive=tuple((attribute, value) for attribute, values in model.sensitive.items() for value in values),
        confidence=model.confidence,
        span=places.key("privacy", "templates", name),
        negated=model.negated,
        min_support=model.min_support or 1,
        values_absent=model.values_absent,
    )


def _sensitivity(name: str, model: models.Sensitivity, policy: models.Policy, places: Places) -> Sensitivity:
    path = ("privacy", "sensitivities", name)
    default = model.default
    attribute = Declared.of(policy).get(name)
    return Sensitivity(
        id=".".join(path),
        attribute=name,
        directions=model.directions,
        bounds=(*_of_values(model, path, places), *_of_groups(model, path, places)),
        tolerance=default.tolerance if default else None,
        default=(default.r1, default.r2) if default and default.r1 is not None and default.r2 is not None else None,
        domain=attribute.domain if attribute else None,
        span=places.key(*path),
        values_absent=model.values_absent,
    )


def _generated(privacy: models.Privacy, places: Places) -> Iterator[Requirement]:
    if (score := privacy.anonymity_score) is not None:
        yield AnonymityScore("privacy.anonymity_score", score.max, places.key("privacy", "anonymity_score"))
    if (blend := privacy.blend) is not None:
        yield Blend("privacy.blend", blend.min_support, blend.max, places.key("privacy", "blend"))


def _itemset_breach(model: models.ItemsetBreach, policy: models.Policy, places: Places) -> ItemsetBreach:
    sets = (name for name, attribute in policy.attributes.items() if attribute.role is Role.ITEMS)
    return ItemsetBreach(
        id="privacy.itemset_breach",
        attribute=model.attribute or next(sets, ""),
        level=model.level,
        sizes=tuple(sorted(set(model.sizes))),
        max_supports=model.max_supports or (),
        max_supports_by_length=tuple(sorted((int(m), s) for m, s in model.max_supports_by_length.items())),
        pool=model.pool,
        span=places.key("privacy", "itemset_breach"),
    )


def _of_values(model: models.Sensitivity, path: tuple[str, ...], places: Places) -> Iterator[ValueBound]:
    for value, several in model.values.items():
        here = (*path, "values", value)
        for i, bound in enumerate(several):
            span = places.key(*here) if len(several) == 1 else places.value(*here, str(i))
            yield ValueBound(value, bound.r1, bound.r2, span, bound.given)


def _of_groups(model: models.Sensitivity, path: tuple[str, ...], places: Places) -> Iterator[ValueBound]:
    for name, group in model.groups.items():
        for i, value in enumerate(group.values):
            span = places.value(*path, "groups", name, "values", str(i))
            yield ValueBound(value, group.r1, group.r2, span, group.given, name)
