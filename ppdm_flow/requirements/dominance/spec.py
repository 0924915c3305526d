"""The kind of requirement `dominance`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.requirements.dominance import audit, requirement
from ppdm_flow.requirements.dominance.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    rules = []
    if requirement.get("share") is not None:
        rules.append(f"the {requirement.get('n', 1)} largest have ≤ {requirement['share']:g}")
    if requirement.get("p") is not None:
        q = requirement.get("q", 100.0)
        rules.append(f"p ≥ {requirement['p']:g} %" + ("" if q == 100 else f" (q = {q:g} %)"))
    if requirement.get("contributors") is not None:
        rules.append(f"≥ {requirement['contributors']} contributors")
    return f"totals of {requirement['attribute']}: {', '.join(rules)}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    name = failure.requirement["attribute"]
    if failure.serving:
        return f"{failure.who} works at it, so look at what later steps do to its classes, and which rows they drop."
    return (
        "Make the groups larger: generalize or drop what forms them, or let `mondrian` or `full_domain_recoding` choose"
        f" how far. Or drop `{name}` from the release. Noise on it leaves the totals nearly as they are."
    )


WORDING = Wording(label="Dominance", clause=clause, advice=advice, section="Totals that tell of one contributor")


SPEC = RequirementSpec(
    name="dominance",
    requirement=requirement.Dominance,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.dominance.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=125,
    aliases=("nk_dominance", "p_percent"),
)
