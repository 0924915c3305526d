"""Numeric linkage: fewer records found, with no fewer candidates, by the same attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import Between, PolicyFrame
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage


@dataclass(frozen=True, slots=True)
class Unlinked:
    """At most a share ``max`` of records is among so many ``candidates``, nearest by ``attributes``."""

    attributes: frozenset[str]
    candidates: int
    max: float
    sample: int


def says(requirement: NumericLinkage, _frame: PolicyFrame) -> Iterator[Unlinked]:
    """Yield what it claims."""
    names = frozenset(requirement.attributes)
    yield Unlinked(names, requirement.candidates, requirement.max, requirement.sample)


def unlinked(given: Unlinked, required: Unlinked, between: Between) -> str | None:
    """Return why fewer are found: whoever is among few candidates is among more; other attributes say nothing."""
    same = given.attributes == required.attributes and given.sample == required.sample
    types = all(between.given.type(a) is between.asked.type(a) for a in required.attributes)
    alike = between.certain(given.attributes) and between.same_original and types
    if not (same and alike) or given.candidates < required.candidates or given.max > required.max:
        return None
    return f"at most {given.max:g} among {given.candidates} is at most {required.max:g} among {required.candidates}"


ORDER = Order(
    says=says,
    rules=((Unlinked, Unlinked, unlinked),),
    fields=frozenset(("attributes", "candidates", "max", "sample")),
)
