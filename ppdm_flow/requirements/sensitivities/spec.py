"""The kind of requirement `sensitivities`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.language.words import short
from ppdm_flow.requirements.sensitivities import audit, requirement
from ppdm_flow.requirements.sensitivities.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"(r1, r2) of {requirement['attribute']}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return f"{failure.who} perturbs it, so look at what later steps do to it, and at the findings below."
    return "Add a `fine_grain_perturbation` step before the release, or `drop` the attribute."


def place_name(rest: tuple[str, ...]) -> str:
    """Name a place below `sensitivities` as a reader would; the first part is the attribute."""
    if len(rest) == 1:
        return f"the sensitivities of `{short(rest[0])}`"
    if len(rest) == 3 and rest[1] == "groups":
        return f"group `{short(rest[2])}`"
    if len(rest) == 3:
        return f"the bound of `{short(rest[2])}`"
    if len(rest) == 4 and rest[1] == "values" and rest[3].isdecimal():
        return f"bound {int(rest[3]) + 1} of `{short(rest[2])}`"
    return f"`{rest[1]}` of the sensitivities of `{short(rest[0])}`"


WORDING = Wording(label="Sensitivity", clause=clause, advice=advice, section="What can be learned")


SPEC = RequirementSpec(
    name="sensitivities",
    requirement=requirement.Sensitivity,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.sensitivities.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=30,
    foresees="ppdm_flow.requirements.sensitivities.foreseen:foresee",
    value_keys=(("values", "*"),),
    place_name=place_name,
)
