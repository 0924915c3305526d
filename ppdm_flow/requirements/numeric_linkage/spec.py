"""The kind of requirement `numeric_linkage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording, listed
from ppdm_flow.requirements.numeric_linkage import audit, requirement
from ppdm_flow.requirements.numeric_linkage.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    most = requirement.get("max_excess")
    beyond = "" if most is None else f", beyond chance ≤ {most:g}"
    whom = "" if requirement.get("against") is None else f" of {requirement['against']}"
    return f"found by {', '.join(requirement['attributes'])}{whom} ≤ {requirement['max']:g}{beyond}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    names = listed([f"`{name}`" for name in failure.requirement["attributes"]])
    if failure.serving:
        return f"{failure.who} changes the numbers: let it change them more, or release fewer of {names}."
    return f"No step changes the numbers: swap those of {names}, replace them by means of groups, or drop some."


WORDING = Wording(label="Numeric linkage", clause=clause, advice=advice, section="Records found by their numbers")


SPEC = RequirementSpec(
    name="numeric_linkage",
    requirement=requirement.NumericLinkage,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.numeric_linkage.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=146,
    files=(("control",), ("against",)),
)
