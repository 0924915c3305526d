"""Requirements in the names that their attributes have where a step reads them: renaming keeps an attribute itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from ppdm_flow.anonymizers.naming import is_pattern
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.requirement import OnSensitive, Requirement, changed
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.templates.requirement import Template

Attributes = Mapping[str, AttributeFacts]
OnClasses = OnSensitive | KMap | LKC
"""What must hold of the classes that ``attributes`` form."""


def sensitivities(requirements: Iterable[Requirement], attributes: Attributes) -> tuple[Sensitivity, ...]:
    """Return the sensitivities whose attribute reaches the step, each under its present name."""
    known = _present(attributes)
    found = [(r, _name(r.attribute, known)) for r in requirements if isinstance(r, Sensitivity)]
    return tuple(replace(r, attribute=name) for r, name in found if name is not None)


def templates(requirements: Iterable[Requirement], attributes: Attributes) -> tuple[Template, ...]:
    """Return the templates whose sensitive attribute reaches the step, in present names.

    A channel is narrowed to what is left of it: whoever knew the dropped attributes cannot use them here, but a
    coarser grouping can still reveal the sensitive value.
    """
    known = _present(attributes)
    return tuple(t for t in (_template(r, known) for r in requirements if isinstance(r, Template)) if t.sensitive)


def _template(template: Template, known: Mapping[str, str]) -> Template:
    channel = [_name(c, known) for c in template.channel]
    sensitive = [(_name(a, known), value) for a, value in template.sensitive]
    return replace(
        template,
        channel=tuple(dict.fromkeys(c for c in channel if c is not None)),
        sensitive=tuple((a, value) for a, value in sensitive if a is not None),
    )


def _present(attributes: Attributes) -> dict[str, str]:
    """The present name of every attribute, by its name in the source."""
    return {facts.source or facts.name: facts.name for facts in attributes.values()}


def _name(attribute: str, known: Mapping[str, str]) -> str | None:
    """The present name, or None; while the columns are unread, a pattern may stand for the attribute."""
    if attribute in known:
        return known[attribute]
    covered = any(is_pattern(k) and fnmatchcase(attribute, k) for k in known)
    return attribute if covered else None


def k_anonymity(requirements: Iterable[Requirement], attributes: Attributes) -> tuple[KAnonymity, ...]:
    """Return k-anonymity in present names, over what is left of its attributes."""
    known = _present(attributes)
    found = [(r, [_name(a, known) for a in r.attributes]) for r in requirements if isinstance(r, KAnonymity)]
    return tuple(replace(r, attributes=tuple(dict.fromkeys(n for n in names if n is not None))) for r, names in found)


def on_classes(requirements: Iterable[Requirement], attributes: Attributes) -> tuple[OnClasses, ...]:
    """Return what must hold of classes in present names, over what is left of their attributes.

    A requirement whose sensitive attribute does not reach the step is left out.
    """
    known = _present(attributes)
    found = (_on_classes(r, known) for r in requirements if isinstance(r, OnClasses))
    return tuple(r for r in found if r is not None)


def _on_classes(requirement: OnClasses, known: Mapping[str, str]) -> OnClasses | None:
    names = [_name(a, known) for a in requirement.attributes]
    left = tuple(dict.fromkeys(n for n in names if n is not None))
    if isinstance(requirement, OnSensitive):
        attribute = _name(requirement.attribute, known)
        return None if attribute is None else changed(requirement, attribute=attribute, attributes=left)
    if isinstance(requirement, KMap):
        columns = dict(requirement.population.columns)
        given = tuple((n, columns.get(a, a)) for n, a in zip(names, requirement.attributes, strict=True) if n)
        return replace(requirement, attributes=left, population=replace(requirement.population, columns=given))
    return _lkc(requirement, left, known)


def _lkc(requirement: LKC, left: tuple[str, ...], known: Mapping[str, str]) -> LKC:
    pairs = [(_name(a, known), value) for a, value in requirement.sensitive]
    return replace(requirement, attributes=left, sensitive=tuple((a, v) for a, v in pairs if a is not None))
