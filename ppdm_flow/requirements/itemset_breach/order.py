"""What a randomized set tells: a lower level, for itemsets of more sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach


@dataclass(frozen=True, slots=True)
class InferenceClaim:
    """No item is inferred with more than the level of the requirement."""

    requirement: ItemsetBreach


def says(requirement: ItemsetBreach, _frame: PolicyFrame) -> Iterator[InferenceClaim]:
    """Yield what an itemset breach claims."""
    yield InferenceClaim(requirement)


def inferred(given: InferenceClaim, required: InferenceClaim, between: ComparedPolicies) -> str | None:
    """A lower level, for itemsets of more sizes, on the same assumptions about supports."""
    one, other = given.requirement, required.requirement
    about = one.attribute == other.attribute and between.same_original and between.about(one.attribute)
    assumed = [(r.max_supports, r.max_supports_by_length, r.pool) for r in (one, other)]
    if not about or assumed[0] != assumed[1] or one.level > other.level or not set(one.sizes) >= set(other.sizes):
        return None
    return f"at most {one.level:g} is at most {other.level:g}, for itemsets of the same sizes or more"


ORDER = Order(
    says=says,
    rules=((InferenceClaim, InferenceClaim, inferred),),
    fields=frozenset(
        (
            "attribute",
            "level",
            "sizes",
            "max_supports",
            "max_supports_by_length",
            "pool",
        )
    ),
)
