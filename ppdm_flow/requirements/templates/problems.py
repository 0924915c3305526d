"""What can be wrong with inference templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.grouping import grouping, sensitive_values
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.templates.redundancy import redundant
from ppdm_flow.requirements.templates.requirement import Template


def judge(scene: Scene, entries: Mapping[str, Template]) -> Iterator[Diagnostic]:
    """Judge them (PPF500 to PPF508)."""
    for name, template in entries.items():
        yield from _channel(scene, name, template)
        yield from _sensitive(scene, name, template)
    yield from redundant(scene, entries)


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


def _sensitive(scene: Scene, template_name: str, template: Template) -> Iterator[Diagnostic]:
    for name, values in template.sensitive.items():
        path = ("privacy", "templates", template_name, "sensitive", name)
        yield from sensitive_values(scene, name, values, path)
