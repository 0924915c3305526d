"""What can be wrong with a clause on k-anonymity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.rules.grouping import grouping
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.k_anonymity.clause import KAnonymity


def judge(scene: Scene, entries: Mapping[str, KAnonymity]) -> Iterator[Diagnostic]:
    """Judge it (PPF500 to PPF502, PPF525)."""
    for requirement in entries.values():
        yield from _judge(scene, requirement)


def _judge(scene: Scene, requirement: KAnonymity) -> Iterator[Diagnostic]:
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
