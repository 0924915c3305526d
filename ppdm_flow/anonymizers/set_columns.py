"""The attribute with sets of items that a step works on."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.anonymizers.naming import absent, reaches
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Problem

Attributes = Mapping[str, AttributeFacts]


def chosen(attribute: str | None, attributes: Attributes) -> str | None:
    """Return the attribute that is meant: the one of that name, or the one with sets; None where there is none."""
    if attribute is not None:
        facts = attributes[attribute] if reaches(attribute, attributes) else None
        return attribute if facts is not None and facts.role is Role.ITEMS else None
    names = [name for name, facts in attributes.items() if facts.role is Role.ITEMS]
    return names[0] if names else None


def problems(attribute: str | None, attributes: Attributes) -> tuple[Problem, ...]:
    """Say why no attribute is meant, where there is none."""
    if chosen(attribute, attributes) is not None:
        return ()
    if attribute is None:
        return (Problem("PPF573", "no attribute with `role: items` reaches this step"),)
    if not reaches(attribute, attributes):
        return (absent(attribute, attributes, ("attribute",)),)
    return (Problem("PPF573", f"`{attribute}` is not a set of items", ("attribute",)),)


def required(attribute: str | None, attributes: Attributes) -> str:
    """Return the attribute that is meant. Raises PluginError where there is none."""
    name = chosen(attribute, attributes)
    if name is None:
        raise PluginError([Diagnostic(p.code, p.message, hint=p.hint) for p in problems(attribute, attributes)])
    return name
