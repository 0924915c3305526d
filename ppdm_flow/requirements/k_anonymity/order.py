"""k-anonymity: a larger k, over more attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import SAME, contained
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity


@dataclass(frozen=True, slots=True)
class ClassSizeClaim:
    """Every class over ``attributes`` has at least ``k`` rows."""

    k: int
    attributes: frozenset[str]


def says(requirement: KAnonymity, _frame: PolicyFrame) -> Iterator[ClassSizeClaim]:
    """Yield what it claims."""
    yield ClassSizeClaim(requirement.k, frozenset(requirement.attributes))


def sizes(given: ClassSizeClaim, required: ClassSizeClaim, between: ComparedPolicies) -> str | None:
    """Return why classes of at least k rows are at least as large as asked for."""
    holds = contained(given.attributes, required.attributes, between)
    if holds is None or given.k < required.k:
        return None
    larger = (
        f"whoever is among {given.k} is among {required.k}" if given.k > required.k else f"{required.k} rows in both"
    )
    return larger if holds == SAME else f"{larger}; {holds}"


ORDER = Order(
    says=says,
    rules=((ClassSizeClaim, ClassSizeClaim, sizes),),
    fields=frozenset(
        (
            "k",
            "attributes",
        )
    ),
    bounds=frozenset(("k",)),
)
