"""The kind of requirement `k_map`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.requirements.k_map import audit, requirement
from ppdm_flow.requirements.k_map.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"k in the population ≥ {requirement['k']}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return (
        "Make the classes larger: generalize or drop quasi-identifiers. Where classes fit nobody, the population file"
        " lacks people, or its values are written otherwise than the source's."
    )


WORDING = Wording(label="k-map", clause=clause, advice=advice, section="How many people share a combination")


SPEC = RequirementSpec(
    name="k_map",
    requirement=requirement.KMap,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.k_map.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=120,
    aliases=("kmap",),
    files=(("population", "path"),),
)
