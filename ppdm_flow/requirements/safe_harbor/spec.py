"""The kind of requirement `safe_harbor`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.requirements.safe_harbor import audit, requirement
from ppdm_flow.requirements.safe_harbor.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"nothing left of the 18 identifiers (as of {requirement['as_of']})"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return (
        "The findings name the columns. Drop names, contacts and numbers; keep three digits of ZIP codes"
        " (`truncate_zip_codes`); generalize dates to years and ages to `>= 90` (`generalize`). Where a column holds no"
        " identifier of a person, say so with `cleared`, for others to review."
    )


WORDING = Wording(label="Safe Harbor", clause=clause, advice=advice, section="Identifiers in the release")


SPEC = RequirementSpec(
    name="safe_harbor",
    requirement=requirement.SafeHarbor,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.safe_harbor.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=155,
    aliases=("hipaa", "identifiers_removed"),
)
