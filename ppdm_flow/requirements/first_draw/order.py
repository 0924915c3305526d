"""What was never randomized before: comparable only within one history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.first_draw.requirement import FirstDraw


@dataclass(frozen=True, slots=True)
class FirstDrawClaim:
    """None of ``attributes`` has been released before, of the same people."""

    attributes: frozenset[str]


def says(requirement: FirstDraw, _frame: PolicyFrame) -> Iterator[FirstDrawClaim]:
    """Yield what a first draw claims."""
    yield FirstDrawClaim(frozenset(requirement.attributes))


def undrawn(given: FirstDrawClaim, required: FirstDrawClaim, between: ComparedPolicies) -> str | None:
    """More attributes, none of which was released before."""
    same = between.one_history and between.certain(given.attributes, required.attributes)
    return (
        "the same attributes or more, in the same ledger" if same and given.attributes >= required.attributes else None
    )


ORDER = Order(
    says=says,
    rules=((FirstDrawClaim, FirstDrawClaim, undrawn),),
    fields=frozenset(("attributes",)),
)
