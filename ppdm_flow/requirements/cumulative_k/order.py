"""Groups of people over several releases: comparable only within one history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Role
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame, by_role
from ppdm_flow.requirements.cumulative_k.requirement import CumulativeK


@dataclass(frozen=True, slots=True)
class CumulativeClaim:
    """All releases together leave groups of ``k`` people, who are told apart by ``attributes``."""

    k: int
    attributes: frozenset[str]


def says(requirement: CumulativeK, frame: PolicyFrame) -> Iterator[CumulativeClaim]:
    """Yield what cumulative k claims: quasi-identifiers count in any case."""
    yield CumulativeClaim(
        requirement.k, frozenset((*requirement.attributes, *by_role(frame.having(Role.QUASI_IDENTIFIER))))
    )


def together(given: CumulativeClaim, required: CumulativeClaim, between: ComparedPolicies) -> str | None:
    """Larger groups, of people who are told apart by more."""
    if given.k < required.k or not given.attributes >= required.attributes or not between.one_history:
        return None
    if not between.certain(given.attributes, required.attributes):
        return None
    where = "beside the same releases" if between.asked.policy.ledger is None else "in the same ledger"
    return f"groups of {given.k} people are groups of {required.k}, {where}"


ORDER = Order(
    says=says,
    rules=((CumulativeClaim, CumulativeClaim, together),),
    fields=frozenset(
        (
            "k",
            "attributes",
        )
    ),
)
