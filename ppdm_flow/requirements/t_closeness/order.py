"""Bounds on the distance t: a lower one, over more attributes; and what bounds on shares say of it."""

from __future__ import annotations

import math

from ppdm_flow.policy.order.classes import SAME, ClassClaim, bounded, unions
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness


def near(given: TCloseness, required: TCloseness, between: ComparedPolicies) -> str | None:
    """A lower t implies a higher one; over fewer attributes where all values are equally far apart.

    By ranks, what is suppressed or missing is moved first: then the distance is not convex, so classes must be the
    same. Dates without an order rank by how far they are apart.
    """
    if given.distance is not required.distance or given.order != required.order:
        return None
    if given.order and not given.values_absent.covers(required.values_absent):
        return None
    if given.distance is Distance.ORDERED:
        kinds = (frame.type(given.attribute) for frame in between.frames)
        times = [kind is not None and kind.is_time and not given.order for kind in kinds]
        if times[0] != times[1] or unions(given.attributes, required.attributes, between) != SAME:
            return None
    return bounded(given, required, given.t, required.t, between)


def near_by_gain(given: ClassClaim, beta: float, required: TCloseness, between: ComparedPolicies) -> str | None:
    """Where values that gain at most beta hold a share x of the table, the distance is at most min(beta x, 1 - x)."""
    if required.distance is not Distance.EQUAL:
        return None
    return bounded(
        given, required, beta / (1.0 + beta), required.t, between, "the distance is at most beta / (1 + beta)"
    )


def near_by_ratios(given: DeltaDisclosure, required: TCloseness, between: ComparedPolicies) -> str | None:
    """The same, through the gain that a ratio allows."""
    return near_by_gain(given, math.expm1(min(given.delta, 700.0)), required, between)


ORDER = Order(
    rules=((TCloseness, TCloseness, near), (DeltaDisclosure, TCloseness, near_by_ratios)),
    fields=("attribute", "t", "attributes", "distance", "order", "values_absent"),
    bounds=("t",),
)
