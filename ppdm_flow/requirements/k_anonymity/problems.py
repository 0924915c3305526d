"""What can be wrong with a clause on k-anonymity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.rules.grouping import grouping
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity


def judge(scene: Scene, entries: Mapping[str, KAnonymity]) -> Iterator[Diagnostic]:
    """Judge it (PPF500 to PPF502, PPF525)."""
    for name, requirement in entries.items():
        yield from _judge(scene, requirement, entry_path("k_anonymity", name))


def _judge(scene: Scene, requirement: KAnonymity, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    if not requirement.attributes:
        having = any(a.role is Role.QUASI_IDENTIFIER for a in scene.policy.attributes.values())
        if not having and not scene.lacks("attributes"):
            yield scene.fault(
                "PPF525",
                "k-anonymity has no quasi-identifier to group by",
                path,
                at_key=True,
                hint="give an attribute `role: quasi_identifier`",
            )
        return
    place = (*path, "attributes")
    yield from repeats(scene, requirement.attributes, place, "`attributes`")
    yield from grouping(scene, requirement.attributes, place, "an attribute that k-anonymity groups by")
