"""Requirements on sets of items: k^m-anonymity, and what a randomized set tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Rules
from ppdm_flow.policy.order.frame import Between, PolicyFrame
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity


@dataclass(frozen=True, slots=True)
class Combined:
    """Every combination of at most ``m`` items that occurs is in at least ``k`` sets."""

    attribute: str
    k: int
    m: int


@dataclass(frozen=True, slots=True)
class Inferred:
    """No item is inferred with more than the level of the requirement."""

    requirement: ItemsetBreach


def of_combinations(requirement: KmAnonymity, _frame: PolicyFrame) -> Iterator[Combined]:
    """Yield what k^m-anonymity claims."""
    yield Combined(requirement.attribute, requirement.k, requirement.m)


def of_breach(requirement: ItemsetBreach, _frame: PolicyFrame) -> Iterator[Inferred]:
    """Yield what an itemset breach claims."""
    yield Inferred(requirement)


def combined(given: Combined, asked: Combined, between: Between) -> str | None:
    """More sets, for combinations of more items."""
    about = given.attribute == asked.attribute and between.same_counting and between.about(given.attribute)
    if not about or given.k < asked.k or given.m < asked.m:
        return None
    return f"{given.k} sets for up to {given.m} items are {asked.k} sets for up to {asked.m}"


def inferred(given: Inferred, asked: Inferred, between: Between) -> str | None:
    """A lower level, for itemsets of more sizes, on the same assumptions about supports."""
    one, other = given.requirement, asked.requirement
    about = one.attribute == other.attribute and between.same_original and between.about(one.attribute)
    assumed = [(r.max_supports, r.max_supports_by_length, r.pool) for r in (one, other)]
    if not about or assumed[0] != assumed[1] or one.level > other.level or not set(one.sizes) >= set(other.sizes):
        return None
    return f"at most {one.level:g} is at most {other.level:g}, for itemsets of the same sizes or more"


RULES: Rules = ((Combined, Combined, combined), (Inferred, Inferred, inferred))
