"""k-anonymity and inference templates: attributes that exist and have a fitting role, values that can occur."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.models import Template
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene

_NO_GROUPS = (Role.IDENTIFIER, Role.WEIGHT, Role.ITEMS)


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``k_anonymity`` and ``templates``."""
    yield from _k_anonymity(scene)
    for name, template in scene.policy.privacy.templates.items():
        yield from _channel(scene, name, template)
        yield from _sensitive(scene, name, template)


def _k_anonymity(scene: Scene) -> Iterator[Diagnostic]:
    requirement = scene.policy.privacy.k_anonymity
    if requirement is None:
        return
    if requirement.attributes is None:
        having = any(a.role is Role.QUASI_IDENTIFIER for a in scene.policy.attributes.values())
        if not having and not scene.lacks("attributes"):
            yield scene.fault(
                "PPF525",
                "k-anonymity has no quasi-identifier to group by",
                ("privacy", "k_anonymity"),
                at_key=True,
                hint="give an attribute `role: quasi_identifier`",
            )
        return
    path = ("privacy", "k_anonymity", "attributes")
    yield from repeats(scene, requirement.attributes, path, "`attributes`")
    yield from grouping(scene, requirement.attributes, path, "an attribute that k-anonymity groups by")


def _channel(scene: Scene, name: str, template: Template) -> Iterator[Diagnostic]:
    path = ("privacy", "templates", name, "channel")
    yield from repeats(scene, template.channel, path, "`channel`")
    yield from grouping(scene, template.channel, path, "part of a channel")
    for i, attribute in enumerate(template.channel):
        if attribute in template.sensitive:
            yield scene.fault(
                "PPF501",
                f"the channel of template `{name}` holds its own sensitive attribute `{short(attribute)}`",
                (*path, str(i)),
                hint="every value would be inferred from itself",
                related=scene.related((*path[:-1], "sensitive", attribute), "sensitive here"),
            )


def grouping(scene: Scene, names: tuple[str, ...], path: tuple[str, ...], use: str) -> Iterator[Diagnostic]:
    """Judge the roles of attributes that rows are grouped by."""
    for i, name in enumerate(names):
        here = (*path, str(i))
        attribute, faults = scene.attribute(name, here)
        yield from faults
        if attribute is not None and attribute.role in _NO_GROUPS:
            yield scene.unfit(name, attribute.role, here, use)


def _sensitive(scene: Scene, template_name: str, template: Template) -> Iterator[Diagnostic]:
    for name, values in template.sensitive.items():
        path = ("privacy", "templates", template_name, "sensitive", name)
        yield from repeats(scene, values, path, f"the sensitive values of `{short(name)}`")
        attribute, faults = scene.attribute(name, path, at_key=True)
        yield from faults
        for i, value in enumerate(values):
            if value == SUPPRESSED:
                yield suppressed(scene, (*path, str(i)))
        if attribute is not None:
            yield from protected(scene, name, attribute.role, path)
            yield from scene.values(attribute, name, [(v, (*path, str(i))) for i, v in enumerate(values)])


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
