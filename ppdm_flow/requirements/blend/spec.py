"""The kind of requirement `blend`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.supports import SupportBound
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.requirements.anonymity_score.spec import advice as generate
from ppdm_flow.requirements.blend import audit, requirement
from ppdm_flow.requirements.blend.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    below = SupportBound(**requirement["min_support"])
    return f"blend (support below {below}) ≤ {requirement['max']:g}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    strict = any(step.get("parameters", {}).get("blend") == "strict" for step in failure.steps)
    rejecting = " `blend: strict` rejects every rare original row, at some cost in likeness."
    return generate(failure) + (rejecting if failure.serving and not strict else "")


WORDING = Wording(label="Blend", clause=clause, advice=advice, section="Original rows in the release")


SPEC = RequirementSpec(
    name="blend",
    requirement=requirement.Blend,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.blend.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=50,
    aliases=("blending",),
)
