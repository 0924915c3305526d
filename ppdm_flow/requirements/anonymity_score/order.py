"""The anonymity score: a lower one, if the same columns are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore


@dataclass(frozen=True, slots=True)
class ScoreClaim:
    """The Normalised Anonymity Score is at most ``maximum``."""

    maximum: float


def says(requirement: AnonymityScore, _frame: PolicyFrame) -> Iterator[ScoreClaim]:
    """Yield what the score claims."""
    yield ScoreClaim(requirement.max)


def scores(given: ScoreClaim, required: ScoreClaim, between: ComparedPolicies) -> str | None:
    """A lower score implies a higher one, if the same columns are compared."""
    if given.maximum > required.maximum or not between.same_rows:
        return None
    return f"at most {given.maximum:g} is at most {required.maximum:g}"


ORDER = Order(
    says=says,
    rules=((ScoreClaim, ScoreClaim, scores),),
    fields=frozenset(("max",)),
)
