"""The kind of requirement `km_anonymity`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.rules.item_sets import item_sets
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk.spec import Params, PluginSpec


def judge(scene: Scene, entries: Mapping[str, KmAnonymity]) -> Iterator[Diagnostic]:
    """Judge it (PPF575)."""
    for name, clause in entries.items():
        yield from item_sets(scene, entry_path("km_anonymity", name), clause.attribute, made=True)


# k^m-anonymity: more sets, for combinations of more items.


@dataclass(frozen=True, slots=True)
class KmClaim:
    """Every combination of at most ``m`` items that occurs is in at least ``k`` sets."""

    attribute: str
    k: int
    m: int


def says(requirement: KmAnonymity, _frame: PolicyFrame) -> Iterator[KmClaim]:
    """Yield what k^m-anonymity claims."""
    yield KmClaim(requirement.attribute, requirement.k, requirement.m)


def combined(given: KmClaim, required: KmClaim, between: ComparedPolicies) -> str | None:
    """More sets, for combinations of more items."""
    about = given.attribute == required.attribute and between.same_counting and between.about(given.attribute)
    if not about or given.k < required.k or given.m < required.m:
        return None
    return f"{given.k} sets for up to {given.m} items are {required.k} sets for up to {required.m}"


ORDER = Order(
    says=says,
    rules=((KmClaim, KmClaim, combined),),
    fields=frozenset(
        (
            "attribute",
            "k",
            "m",
        )
    ),
)


class KmAnonymityParams(Params):
    """It has none: the requirement says it all."""


AUDIT = PluginSpec(
    info=PluginInfo.of_page(
        "audits/km_anonymity",
        Kind.AUDIT,
        serves=("km_anonymity",),
        sets="column",
        asks=AccessRequirements(DataAccess.TABLE, passes=3),
    ),
    params=KmAnonymityParams,
    algorithm="ppdm_flow.requirements.km_anonymity.algorithm:KmAnonymityAudit",
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"k of {requirement['m']} items of {requirement['attribute']} ≥ {requirement['k']}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return "Let `apriori_anonymization` be the last step that changes the sets: it rolls up or leaves out what is rare."


WORDING = Wording(label="k^m-anonymity", clause=clause, advice=advice)


SPEC = RequirementSpec(
    name="km_anonymity",
    requirement=KmAnonymity,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.km_anonymity.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=140,
    aliases=("km", "k_m_anonymity"),
)
