"""How rare rows blend in: a lower share, of the same rare rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.supports import SupportBound
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.blend.requirement import Blend


@dataclass(frozen=True, slots=True)
class BlendClaim:
    """Of released rows rarer than ``support``, at most a share of ``maximum`` is rarer in the original too."""

    support: SupportBound
    maximum: float


def says(requirement: Blend, _frame: PolicyFrame) -> Iterator[BlendClaim]:
    """Yield what blending claims."""
    yield BlendClaim(requirement.min_support, requirement.max)


def blends(given: BlendClaim, required: BlendClaim, between: ComparedPolicies) -> str | None:
    """A lower share implies a higher one of the same rare rows; other supports make other rows rare.

    Where no rare row is rare in the original, none of the rarer ones is.
    """
    if given.maximum > required.maximum or not between.same_rows:
        return None
    if given.support != required.support:
        fewer = given.maximum == 0 and given.support.includes(required.support)
        return "no row that is rare is rare in the original, so none that is rarer" if fewer else None
    return f"at most {given.maximum:g} is at most {required.maximum:g}, of the same rows"


ORDER = Order(
    says=says,
    rules=((BlendClaim, BlendClaim, blends),),
    fields=frozenset(
        (
            "min_support",
            "max",
        )
    ),
)
