"""The kind of requirement `km_anonymity`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.requirements.km_anonymity import audit, requirement
from ppdm_flow.requirements.km_anonymity.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"k of {requirement['m']} items of {requirement['attribute']} ≥ {requirement['k']}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return "Let `apriori_anonymization` be the last step that changes the sets: it rolls up or leaves out what is rare."


WORDING = Wording(label="k^m-anonymity", clause=clause, advice=advice)


SPEC = RequirementSpec(
    name="km_anonymity",
    requirement=requirement.KmAnonymity,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.km_anonymity.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=140,
    aliases=("km", "k_m_anonymity"),
)
