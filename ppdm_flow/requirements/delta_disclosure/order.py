"""Bounds on ratios of shares: a lower one, over more attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import bounded
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure


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
