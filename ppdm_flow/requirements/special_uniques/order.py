"""Special uniques: larger sets, over more attributes, single out a smaller share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import contained
from ppdm_flow.policy.order.frame import Between, PolicyFrame
from ppdm_flow.requirements.special_uniques.requirement import FewUniques


@dataclass(frozen=True, slots=True)
class SingledOut:
    """At most ``max_share`` of the rows is unique by some ``size`` of the ``attributes``."""

    size: int
    max_share: float
    attributes: frozenset[str]


def says(requirement: FewUniques, _frame: PolicyFrame) -> Iterator[SingledOut]:
    """Yield what it claims."""
    yield SingledOut(requirement.size, requirement.max_share, frozenset(requirement.attributes))


def singled_out(given: SingledOut, required: SingledOut, between: Between) -> str | None:
    """Return why no more rows are unique: who knows fewer attributes singles out nobody else."""
    holds = contained(given.attributes, required.attributes, between)
    if holds is None or given.size < required.size or given.max_share > required.max_share:
        return None
    return (
        f"a share of {given.max_share:g} is at most {required.max_share:g}, and whom at most"
        f" {required.size} attributes single out, up to {given.size} do; {holds}"
    )


ORDER = Order(
    says=says,
    rules=((SingledOut, SingledOut, singled_out),),
    fields=frozenset(
        (
            "size",
            "max_share",
            "attributes",
        )
    ),
)
