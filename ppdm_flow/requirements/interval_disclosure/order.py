"""Interval disclosure: fewer rows within a width that is no smaller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure


@dataclass(frozen=True, slots=True)
class IntervalClaim:
    """At most a share ``max`` of rows shows a number within ``width``, which is measured as ``form`` says."""

    attribute: str
    form: str
    width: float
    max: float


def says(requirement: IntervalDisclosure, _frame: PolicyFrame) -> Iterator[IntervalClaim]:
    """Yield what it claims."""
    if len(requirement.width.forms) == 1:
        yield IntervalClaim(requirement.attribute, requirement.width.form, requirement.width.size, requirement.max)


def undisclosed(given: IntervalClaim, required: IntervalClaim, between: ComparedPolicies) -> str | None:
    """Return why fewer rows are within the smaller width: those within it are within the larger one too."""
    name = required.attribute
    same = given.attribute == name and given.form == required.form and between.about(name) and between.same_original
    alike = between.given.type(name) is between.asked.type(name)
    if not (same and alike) or given.width < required.width or given.max > required.max:
        return None
    return f"at most {given.max:g} within {given.width:g} is at most {required.max:g} within {required.width:g}"


ORDER = Order(
    says=says,
    rules=((IntervalClaim, IntervalClaim, undisclosed),),
    fields=frozenset(("attribute", "width", "max")),
)
