"""The kind of requirement `delta_disclosure`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import bounded
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.sdk.spec import Params, PluginSpec

# Bounds on ratios of shares: a lower one, over more attributes.


@dataclass(frozen=True, slots=True)
class RatioClaim:
    """|ln(share in the class / share in the table)| is at most ``delta``."""

    attribute: str
    delta: float
    attributes: frozenset[str]


def says(requirement: DeltaDisclosure, _frame: PolicyFrame) -> Iterator[RatioClaim]:
    """Yield what delta claims."""
    yield RatioClaim(requirement.attribute, requirement.delta, frozenset(requirement.attributes))


def ratios(given: RatioClaim, required: RatioClaim, between: ComparedPolicies) -> str | None:
    """A lower delta implies a higher one."""
    return bounded(given, required, given.delta, required.delta, between)


ORDER = Order(
    says=says,
    rules=((RatioClaim, RatioClaim, ratios),),
    fields=frozenset(
        (
            "attribute",
            "delta",
            "attributes",
        )
    ),
    bounds=frozenset(("delta",)),
)


class DeltaDisclosureParams(Params):
    """It has none: the requirement says it all."""


AUDIT = PluginSpec(
    info=PluginInfo.of_page(
        "audits/delta_disclosure",
        Kind.AUDIT,
        figures=measures,
        serves=("delta_disclosure",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=DeltaDisclosureParams,
    algorithm="ppdm_flow.requirements.delta_disclosure.algorithm:DeltaDisclosureAudit",
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"δ of {requirement['attribute']} ≤ {requirement['delta']:g}"


WORDING = Wording(label="δ-disclosure", clause=clause, advice=larger_classes, section="What can be inferred")


SPEC = RequirementSpec(
    name="delta_disclosure",
    requirement=DeltaDisclosure,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.delta_disclosure.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=lambda scene, entries: on_sensitive.judge(scene, "delta_disclosure", entries),
    rank=100,
)
