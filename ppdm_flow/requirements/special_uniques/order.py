"""Special uniques: larger sets, over more attributes, single out a smaller share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.special_uniques.requirement import FewUniques


@dataclass(frozen=True, slots=True)
class UniquesClaim:
    """At most ``max_share`` of the rows is unique by some ``size`` of the ``attributes``."""

    size: int
    max_share: float
    attributes: frozenset[str]


def says(requirement: FewUniques, _frame: PolicyFrame) -> Iterator[UniquesClaim]:
    """Yield what it claims."""
    yield UniquesClaim(requirement.size, requirement.max_share, frozenset(requirement.attributes))


def singled_out(given: UniquesClaim, required: UniquesClaim, between: ComparedPolicies) -> str | None:
    """Return why no more rows are unique: who knows fewer attributes singles out nobody else.

    With missing values as a category of their own, whoever is unique under wildcards or among the known is unique too.
    """
    nulls = between.given.nulls, between.asked.nulls
    alike = nulls[0] is nulls[1] or nulls[0] is Nulls.OWN_CATEGORY
    same = alike and between.same_counting and between.certain(given.attributes, required.attributes)
    if not same or not given.attributes >= required.attributes:
        return None
    if given.size < required.size or given.max_share > required.max_share:
        return None
    return (
        f"a share of {given.max_share:g} is at most {required.max_share:g}, and whom up to {required.size} of"
        f" {len(required.attributes)} attributes single out, up to {given.size} of {len(given.attributes)} do"
    )


ORDER = Order(
    says=says,
    rules=((UniquesClaim, UniquesClaim, singled_out),),
    fields=frozenset(
        (
            "size",
            "max_share",
            "attributes",
        )
    ),
)
