"""The kind of requirement `t_closeness`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.requirements.t_closeness import audit, requirement
from ppdm_flow.requirements.t_closeness.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"t of {requirement['attribute']} ≤ {requirement['t']:g} ({requirement['distance']})"


WORDING = Wording(label="t-closeness", clause=clause, advice=larger_classes, section="What can be inferred")


SPEC = RequirementSpec(
    name="t_closeness",
    requirement=requirement.TCloseness,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.t_closeness.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=80,
    aliases=("tcloseness", "closeness"),
    mixes=False,
)
