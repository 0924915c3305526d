"""Bounds on the gain of a share: a lower one, over more attributes; and what ratios and distances say of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import bounded
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.spec import RatioClaim
from ppdm_flow.requirements.t_closeness.order import ClosenessClaim, near_by_gain


@dataclass(frozen=True, slots=True)
class GainClaim:
    """A share in a class is at most 1 + ``beta`` times that in the table."""

    attribute: str
    beta: float
    attributes: frozenset[str]


def says(requirement: BetaLikeness, _frame: PolicyFrame) -> Iterator[GainClaim]:
    """Yield what beta claims."""
    yield GainClaim(requirement.attribute, requirement.beta, frozenset(requirement.attributes))


def gains(given: GainClaim, required: GainClaim, between: ComparedPolicies) -> str | None:
    """A lower beta implies a higher one."""
    return bounded(given, required, given.beta, required.beta, between)


def gains_of_ratios(given: RatioClaim, required: GainClaim, between: ComparedPolicies) -> str | None:
    """A ratio of at most e^delta is a gain of at most e^delta - 1."""
    return bounded(
        given, required, math.expm1(min(given.delta, 700.0)), required.beta, between, "beta is at most e^delta - 1"
    )


def near_by_gains(given: GainClaim, required: ClosenessClaim, between: ComparedPolicies) -> str | None:
    """A bound on gains is one on distances."""
    return near_by_gain(given, given.beta, required, between)


ORDER = Order(
    says=says,
    rules=(
        (GainClaim, GainClaim, gains),
        (RatioClaim, GainClaim, gains_of_ratios),
        (GainClaim, ClosenessClaim, near_by_gains),
    ),
    fields=frozenset(
        (
            "attribute",
            "beta",
            "attributes",
        )
    ),
    bounds=frozenset(("beta",)),
)
