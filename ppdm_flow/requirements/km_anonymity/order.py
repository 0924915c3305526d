"""k^m-anonymity: more sets, for combinations of more items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity


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
