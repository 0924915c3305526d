"""Safe Harbor: looking for more, in more columns, with less cleared, is stricter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor
from ppdm_flow.requirements.safe_harbor.small_areas import areas


@dataclass(frozen=True, slots=True)
class SafeHarborClaim:
    """No cell shows an identifier, as far as it is looked for."""

    as_of: int
    zip_codes: frozenset[str]
    ages: frozenset[str]
    birth_years: frozenset[str]
    areas: frozenset[str]
    unique: float
    cleared: frozenset[tuple[str, str]]


def says(requirement: SafeHarbor, _frame: PolicyFrame) -> Iterator[SafeHarborClaim]:
    """Yield what it claims."""
    yield SafeHarborClaim(
        requirement.as_of,
        frozenset(requirement.zip_codes),
        frozenset(requirement.ages),
        frozenset(requirement.birth_years),
        areas(requirement.small_areas),
        requirement.unique,
        frozenset((column, kind) for column, kinds in requirement.cleared.items() for kind in kinds),
    )


def removed(given: SafeHarborClaim, required: SafeHarborClaim, between: ComparedPolicies) -> str | None:
    """Return why nothing is left of what the other one looks for: it looks for that, too.

    What a column is called says what it holds, so that the same columns have to be declared alike.
    """
    named = (*given.zip_codes, *given.ages, *given.birth_years), (*required.zip_codes, *required.ages)
    if not between.same_counting or between.given.counts_people is not between.asked.counts_people:
        return None
    if not between.certain(*named, required.birth_years):
        return None
    more = (
        given.as_of >= required.as_of
        and given.zip_codes >= required.zip_codes
        and given.ages >= required.ages
        and given.birth_years >= required.birth_years
        and given.areas >= required.areas
    )
    if not more or given.unique > required.unique or not given.cleared <= required.cleared:
        return None
    return "it looks for the same identifiers in as many columns, and clears no more of them"


ORDER = Order(
    says=says,
    rules=((SafeHarborClaim, SafeHarborClaim, removed),),
    fields=frozenset(("as_of", "zip_codes", "ages", "birth_years", "small_areas", "unique", "cleared")),
)
