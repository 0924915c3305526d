"""l-diversity: more values, over more attributes; and what one way of counting says of another.

The entropy is concave, and the sum of the l - 1 largest counts is subadditive, so that unions of classes keep entropy
and recursive diversity (Machanavajjhala and others, ACM TKDD 1(1), 2007, section 4, monotonicity).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import contained, unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity


@dataclass(frozen=True, slots=True)
class DiversityClaim:
    """Every class over ``attributes`` has ``l`` well-represented values of ``attribute``."""

    attribute: str
    l: float  # noqa: E741  # the model's own letter
    variant: Diversity
    c: float
    attributes: frozenset[str]


def says(requirement: LDiversity, _frame: PolicyFrame) -> Iterator[DiversityClaim]:
    """Yield what it claims."""
    c = requirement.c if requirement.c is not None else 0.0
    yield DiversityClaim(
        requirement.attribute, requirement.l, requirement.variant, c, frozenset(requirement.attributes)
    )


def diverse(given: DiversityClaim, required: DiversityClaim, between: ComparedPolicies) -> str | None:
    """Return why classes are as diverse as asked for."""
    if given.attribute != required.attribute or not between.about(given.attribute):
        return None
    rule = contained if Diversity.DISTINCT in (given.variant, required.variant) else unions
    holds = rule(given.attributes, required.attributes, between)
    counted = _counted(given, required)
    return f"{counted}; {holds}" if holds and counted else None


def _counted(given: DiversityClaim, required: DiversityClaim) -> str | None:
    """Say why one class that keeps the one keeps the other."""
    if given.l < required.l:
        return None
    if given.variant is required.variant:
        if given.variant is Diversity.RECURSIVE and given.c > required.c:
            return None
        return f"l of {given.l:g} is at least {required.l:g}"
    if required.variant is not Diversity.DISTINCT:
        return None
    if given.variant is Diversity.ENTROPY:
        return f"an entropy of log {given.l:g} needs at least {required.l:g} values"
    return f"values from the {given.l:g}th most frequent on are there, so that there are at least {required.l:g}"


ORDER = Order(
    says=says,
    rules=((DiversityClaim, DiversityClaim, diverse),),
    fields=frozenset(
        (
            "attribute",
            "l",
            "attributes",
            "variant",
            "c",
        )
    ),
    bounds=frozenset(("l",)),
)
