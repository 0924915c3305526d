"""The kind of requirement `delta_disclosure`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.requirements.delta_disclosure import audit, requirement


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"δ of {requirement['attribute']} ≤ {requirement['delta']:g}"


WORDING = Wording(label="δ-disclosure", clause=clause, advice=larger_classes, section="What can be inferred")


SPEC = RequirementSpec(
    name="delta_disclosure",
    requirement=requirement.DeltaDisclosure,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.delta_disclosure.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=lambda scene, entries: on_sensitive.judge(scene, "delta_disclosure", entries),
    rank=100,
)
