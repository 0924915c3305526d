"""The kind of requirement `special_uniques`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.requirements.special_uniques import audit, requirement
from ppdm_flow.requirements.special_uniques.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"singled out by {requirement.get('size', 3)} attributes ≤ {requirement.get('max_share', 0.0):.4g}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return (
        "Generalize or drop the attributes that most sets contain: the chart of the audit `special_uniques` names"
        " them. `suppress` hides rare values of single attributes; classes of `k_anonymity` leave nobody unique."
    )


WORDING = Wording(label="special uniques", clause=clause, advice=advice, section="How many people share a combination")


SPEC = RequirementSpec(
    name="special_uniques",
    requirement=requirement.FewUniques,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.special_uniques.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=135,
    aliases=("suda", "sample_uniques"),
)
