"""Bounds on the share of a value: a lower one, of more values, over more attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import bounded
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.alpha_k.requirement import AlphaK


@dataclass(frozen=True, slots=True)
class ShareClaim:
    """In no class is the share of ``value`` above ``alpha``; of any value, where it is None."""

    attribute: str
    value: str | None
    alpha: float
    attributes: frozenset[str]
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


def says(requirement: AlphaK, _frame: PolicyFrame) -> Iterator[ShareClaim]:
    """Yield what alpha claims: of each value that it names, or of any."""
    for value in requirement.values or (None,):
        absent = requirement.values_absent if requirement.values else ValuesAbsent.ERROR
        yield ShareClaim(requirement.attribute, value, requirement.alpha, frozenset(requirement.attributes), absent)


def shares(given: ShareClaim, required: ShareClaim, between: ComparedPolicies) -> str | None:
    """A bound on all values is one on each, and a lower one is a higher one."""
    if given.value not in (None, required.value) or not given.values_absent.covers(required.values_absent):
        return None
    return bounded(given, required, given.alpha, required.alpha, between)


ORDER = Order(
    says=says,
    rules=((ShareClaim, ShareClaim, shares),),
    fields=frozenset(
        (
            "attribute",
            "alpha",
            "attributes",
            "values",
            "values_absent",
        )
    ),
    bounds=frozenset(("alpha",)),
)
