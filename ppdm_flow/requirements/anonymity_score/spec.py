"""The kind of requirement `anonymity_score`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.attributes import Change
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.requirements.anonymity_score import audit, requirement
from ppdm_flow.requirements.anonymity_score.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"NAS ≤ {requirement['max']:g}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return (
            f"{failure.who} makes the rows: with a higher `min_support` its model holds only what more people have"
            " in common, and fewer original rows come out again."
        )
    return "No step makes new rows: add a generator, such as `krimp_generator`, before the release."


WORDING = Wording(label="Anonymity score", clause=clause, advice=advice, section="Original rows in the release")


SPEC = RequirementSpec(
    name="anonymity_score",
    requirement=requirement.AnonymityScore,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.anonymity_score.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=40,
    aliases=("nas",),
    measured_on=Change.GENERATED,
)
