"""The kind of requirement `itemset_breach`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.requirements.itemset_breach import audit, requirement
from ppdm_flow.requirements.itemset_breach.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"posterior of an item of {requirement['attribute']} ≤ {requirement['level']:g}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return (
            f"{failure.who} randomizes the sets: leave its `cutoff` and `insertion` out to have them chosen, give"
            " higher `max_supports` or none, drop or roll up the most frequent items, or shorten the sets with"
            " `limit_items`."
        )
    if any("perturbed" in changes for changes in failure.released.values()):
        return (
            "Clients randomized the sets: publish an operator to them that keeps less or puts more in, or ask for a"
            " higher level; what they sent already cannot be made safer."
        )
    return "No step randomizes the sets: add `randomize_transactions` before the release."


WORDING = Wording(label="Itemset breach", clause=clause, advice=advice, section="What can be inferred of sets")


SPEC = RequirementSpec(
    name="itemset_breach",
    requirement=requirement.ItemsetBreach,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.itemset_breach.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=60,
)
