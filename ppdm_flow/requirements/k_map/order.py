"""k-map: a larger k, over more attributes, in the same population."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.k_map.requirement import KMap


@dataclass(frozen=True, slots=True)
class KMapClaim:
    """Every class over ``attributes`` fits at least ``k`` people of the population."""

    k: int
    attributes: frozenset[str]
    population: PopulationFile


def says(requirement: KMap, _frame: PolicyFrame) -> Iterator[KMapClaim]:
    """Yield what it claims."""
    yield KMapClaim(requirement.k, frozenset(requirement.attributes), requirement.population)


def mapped(given: KMapClaim, required: KMapClaim, between: ComparedPolicies) -> str | None:
    """Return why the classes fit as many: whoever fits more attributes fits fewer, if all of them read labels alike."""
    nulls = between.given.nulls, between.asked.nulls
    alike = nulls[0] is nulls[1] or nulls == (Nulls.OWN_CATEGORY, Nulls.WILDCARD)  # wildcards fit whom they fitted
    same = alike and between.same_counting and between.certain(given.attributes, required.attributes)
    nested = given.attributes == required.attributes or (
        given.attributes > required.attributes and nulls[0] is not Nulls.EXCLUDE
    )
    if not same or not nested or given.k < required.k or not _same_people(given, required, between):
        return None
    return f"{given.k} people are at least {required.k}, and whoever fits more attributes fits fewer"


def _same_people(given: KMapClaim, required: KMapClaim, between: ComparedPolicies) -> bool:
    one, other = given.population, required.population
    if one.delimiter != other.delimiter or not between.same_file(one.path, other.path):
        return False
    names = dict(one.columns), dict(other.columns)
    alike = all(names[0].get(a, a) == names[1].get(a, a) for a in required.attributes)
    return alike and all(between.same_hierarchy(a) for a in required.attributes)


ORDER = Order(
    says=says,
    rules=((KMapClaim, KMapClaim, mapped),),
    fields=frozenset(
        (
            "k",
            "attributes",
            "population",
        )
    ),
)
