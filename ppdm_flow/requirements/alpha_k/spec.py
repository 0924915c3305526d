"""The kind of requirement `alpha_k`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.requirements.alpha_k import audit, requirement
from ppdm_flow.requirements.alpha_k.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"share of a value of {requirement['attribute']} ≤ {requirement['alpha']:g}"


WORDING = Wording(label="(α, k)-anonymity", clause=clause, advice=larger_classes, section="What can be inferred")


SPEC = RequirementSpec(
    name="alpha_k",
    requirement=requirement.AlphaK,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.alpha_k.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=90,
)
