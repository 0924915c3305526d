"""The typed policy's clauses as core values: its requirements, and the values that the policy itself names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language import models
from ppdm_flow.policy.language.kinds import RequirementSpec, built_in, guarded, kinds_among, ranked, third_parties
from ppdm_flow.policy.loaded import ClausePlace, ResolvedPlaces


def requirements_of(policy: models.Policy, places: ResolvedPlaces) -> tuple[Requirement, ...]:
    """Return every requirement under ``privacy:``, with its place, then what is implied; its id is its path."""
    requirements: list[Requirement] = []
    specs = specs_of(policy)
    for spec in specs:
        for name, clause in policy.privacy.entries(spec.name).items():
            path = ("privacy", spec.name, *([name] if name else []))
            requirements.append(bound(clause, ClausePlace(path, name, policy, places)))
    for spec in specs:
        if spec.implied is not None:
            requirements.extend(spec.implied(policy, tuple(requirements), places))
    return tuple(requirements)


def requirements_by_place(policy: models.Policy) -> Iterator[tuple[tuple[str, ...], Requirement]]:
    """Yield the entries under ``privacy:`` with their paths, not yet bound to them."""
    for spec in kinds_among(type(policy.privacy).model_fields):
        for name, clause in policy.privacy.entries(spec.name).items():
            yield ("privacy", spec.name, *([name] if name else [])), clause


def awaits_data(policy: models.Policy | None) -> bool:
    """Whether a requirement of the policy protects what is still to be chosen from the data."""
    return policy is not None and any(clause.awaits_data for _, clause in requirements_by_place(policy))


def bound(clause: Requirement, place: ClausePlace) -> Requirement:
    """Return a clause bound to its place. Raises PluginError where another package's kind raises."""
    own = clause.kind not in third_parties()
    bind = clause.bound if own else guarded(clause.kind, "read its clause", clause.bound)
    requirement: Requirement = bind(place)
    return requirement


def specs_of(policy: models.Policy) -> tuple[RequirementSpec, ...]:
    """Return the kinds that a policy has, with those that its ledger may imply."""
    named = kinds_among(type(policy.privacy).model_fields)
    return ranked({spec.name: spec for spec in (*(built_in() if policy.ledger else ()), *named)}.values())


def gates_of(policy: models.Policy, places: ResolvedPlaces) -> tuple[FigureGate, ...]:
    """Return every gate, with its place and the releases that it is about."""
    return tuple(
        FigureGate(
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


def _about(gate: models.GateEntry, policy: models.Policy) -> tuple[str, ...]:
    """Return what a gate says, its metric or its audit; else all releases. A step's figure is about none of them."""
    release, _, figure = gate.metric.rpartition("/")
    owner = figure.partition(".")[0]
    if owner in policy.steps:
        return ()
    audit = policy.audits.get(owner)
    only = release or (audit.release if audit else None)
    return tuple(dict.fromkeys(gate.releases or ((only,) if only else policy.releases)))


def declared_values(policy: models.Policy, requirements: Iterable[Requirement]) -> Mapping[str, frozenset[str]]:
    """Return the values that the policy itself writes, by attribute (or pattern): these a report may show."""
    values_by_attribute: defaultdict[str, set[str]] = defaultdict(set)
    for name, attribute in policy.attributes.items():
        values_by_attribute[name].update(attribute.domain or ())
        if attribute.hierarchy is not None:
            values_by_attribute[name].update(attribute.hierarchy.order or ())
            for value, ancestors in (attribute.hierarchy.levels or {}).items():
                values_by_attribute[name].update((value, *ancestors))
    for analysis in policy.analyses.values():
        if analysis.regression is not None and analysis.positive is not None:
            values_by_attribute[analysis.regression].add(analysis.positive)
    for requirement in requirements:
        for name, value, _ in () if requirement.chosen_from_data else requirement.named_values():
            values_by_attribute[name].add(value)
    return {name: frozenset(values) for name, values in sorted(values_by_attribute.items()) if values}
