"""The kind of requirement `lkc`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.requirements.lkc import audit, requirement
from ppdm_flow.requirements.lkc.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    inferred = f", confidence ≤ {requirement['c']:g}" if "c" in requirement else ""
    return f"k ≥ {requirement['k']} by {requirement['l']} attributes{inferred}"


WORDING = Wording(
    label="LKC-privacy", clause=clause, advice=larger_classes, section="How many people share a combination"
)


SPEC = RequirementSpec(
    name="lkc",
    requirement=requirement.LKC,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.lkc.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=130,
    aliases=("lkc_privacy",),
)
