"""Rules on the attributes that requirements name: those that form groups, and sensitive ones that are protected."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene

Path = tuple[str, ...]
_NO_GROUPS = (Role.IDENTIFIER, Role.WEIGHT, Role.ITEMS)


def grouping(scene: Scene, names: tuple[str, ...], path: tuple[str, ...], use: str) -> Iterator[Diagnostic]:
    """Judge the roles of attributes that rows are grouped by."""
    for i, name in enumerate(names):
        here = (*path, str(i))
        attribute, faults = scene.attribute(name, here)
        yield from faults
        if attribute is not None and attribute.role in _NO_GROUPS:
            yield scene.unfit(name, attribute.role, here, use)


def grouped(scene: Scene, attributes: tuple[str, ...], path: Path) -> Iterator[Diagnostic]:
    """Judge what a requirement groups by."""
    if attributes:
        yield from repeats(scene, attributes, (*path, "attributes"), "`attributes`")
        yield from grouping(scene, attributes, (*path, "attributes"), "an attribute that classes are formed by")
        return
    having = any(a.role is Role.QUASI_IDENTIFIER for a in scene.policy.attributes.values())
    if not having and not scene.lacks("attributes"):
        text = f"`{path[1]}` has no quasi-identifier to group by"
        hint = "give an attribute `role: quasi_identifier`"
        yield scene.fault("PPF525", text, path, at_key=True, hint=hint)


def protected(scene: Scene, name: str, role: Role, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Judge the role of an attribute that a requirement protects as sensitive."""
    if role in _NO_GROUPS or role is Role.SUBJECT:
        yield scene.unfit(name, role, path, "protected as sensitive", at_key=True)
    elif role is not Role.SENSITIVE:
        yield scene.fault(
            "PPF503",
            f"`{short(name)}` is protected here, but its role is `{role}`",
            path,
            at_key=True,
            warning=True,
            hint="give it `role: sensitive`",
            related=scene.related(("attributes", scene.declared.key(name) or name), "declared here"),
        )


def sensitive_values(scene: Scene, name: str, values: tuple[str, ...], path: Path) -> Iterator[Diagnostic]:
    """Judge an attribute and those of its values that must not be inferred."""
    yield from repeats(scene, values, path, f"the sensitive values of `{short(name)}`")
    attribute, faults = scene.attribute(name, path, at_key=True)
    yield from faults
    for i, value in enumerate(values):
        if value == SUPPRESSED:
            yield suppressed(scene, (*path, str(i)))
    if attribute is not None:
        yield from protected(scene, name, attribute.role, path)
        yield from scene.values(attribute, name, [(v, (*path, str(i))) for i, v in enumerate(values)])


def known(scene: Scene, attributes: tuple[str, ...]) -> tuple[str, ...]:
    """Return what groups are formed by: all quasi-identifiers where a clause names none."""
    if attributes:
        return attributes
    return tuple(n for n, a in scene.policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
