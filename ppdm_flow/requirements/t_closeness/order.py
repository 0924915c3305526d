"""Bounds on the distance t: a lower one, over more attributes; and what bounds on shares say of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import AttributeType, ValuesAbsent
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import SAME, ClassClaim, bounded, unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.delta_disclosure.spec import RatioClaim
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness


@dataclass(frozen=True, slots=True)
class ClosenessClaim:
    """The distribution in a class is within ``t`` of that in the table; ``order`` and ``type`` say how values rank."""

    attribute: str
    t: float
    attributes: frozenset[str]
    distance: Distance
    order: tuple[str, ...] = ()
    dates: bool = False
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


def says(requirement: TCloseness, frame: PolicyFrame) -> Iterator[ClosenessClaim]:
    """Yield what t claims."""
    ranked = requirement.distance is Distance.ORDERED
    dates = (
        ranked
        and not requirement.order
        and frame.type(requirement.attribute) in (AttributeType.DATE, AttributeType.TIMESTAMP)
    )
    yield ClosenessClaim(
        requirement.attribute,
        requirement.t,
        frozenset(requirement.attributes),
        requirement.distance,
        requirement.order,
        dates,
        requirement.values_absent if requirement.order else ValuesAbsent.ERROR,
    )


def near(given: ClosenessClaim, required: ClosenessClaim, between: ComparedPolicies) -> str | None:
    """A lower t implies a higher one; over fewer attributes where all values are equally far apart.

    By ranks, what is suppressed or missing is moved first: then the distance is not convex, so classes must be the
    same.
    """
    ways = [(n.distance, n.order, n.dates) for n in (given, required)]
    ranked = given.distance is Distance.ORDERED
    if (
        not given.values_absent.covers(required.values_absent)
        or ways[0] != ways[1]
        or (ranked and unions(given.attributes, required.attributes, between) != SAME)
    ):
        return None
    return bounded(given, required, given.t, required.t, between)


def near_by_gain(given: ClassClaim, beta: float, required: ClosenessClaim, between: ComparedPolicies) -> str | None:
    """Where values that gain at most beta hold a share x of the table, the distance is at most min(beta x, 1 - x)."""
    if required.distance is not Distance.EQUAL:
        return None
    return bounded(
        given, required, beta / (1.0 + beta), required.t, between, "the distance is at most beta / (1 + beta)"
    )


def near_by_ratios(given: RatioClaim, required: ClosenessClaim, between: ComparedPolicies) -> str | None:
    """The same, through the gain that a ratio allows."""
    return near_by_gain(given, math.expm1(min(given.delta, 700.0)), required, between)


ORDER = Order(
    says=says,
    rules=((ClosenessClaim, ClosenessClaim, near), (RatioClaim, ClosenessClaim, near_by_ratios)),
    fields=frozenset(
        (
            "attribute",
            "t",
            "attributes",
            "distance",
            "order",
            "values_absent",
        )
    ),
    bounds=frozenset(("t",)),
)
