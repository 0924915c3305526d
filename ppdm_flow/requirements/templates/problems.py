"""What can be wrong with inference templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.grouping import grouping, sensitive_values
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.templates.redundancy import redundant
from ppdm_flow.requirements.templates.requirement import InferenceTemplate, SensitiveChoice, may_be_chosen

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
