"""Dominance: each rule by itself, over more attributes; and what one rule says of another.

What holds of two groups holds of their union: `classes.py` says why. Sums of few contributors bound each other, since n
of the largest N have at least n/N of what these have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import SAME, ClassClaim, unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.dominance.requirement import Dominance

_SLACK = 4 * TOLERANCE


@dataclass(frozen=True, slots=True)
class ShareOfTotalClaim:
    """The ``n`` largest contributors have at most ``share`` of every total."""

    attribute: str
    n: int
    share: float
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class EstimationClaim:
    """q (T - x_1 - x_2) >= p x_1 in every group, with ``p`` and ``q`` in percent."""

    attribute: str
    p: float
    q: float
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class ContributorsClaim:
    """Every total that is not 0 has at least ``contributors``."""

    attribute: str
    contributors: int
    attributes: frozenset[str]


def says(
    requirement: Dominance, _frame: PolicyFrame
) -> Iterator[ShareOfTotalClaim | EstimationClaim | ContributorsClaim]:
    """Yield what it claims."""
    name, by = requirement.attribute, frozenset(requirement.attributes)
    if requirement.share is not None:
        yield ShareOfTotalClaim(name, requirement.n, requirement.share, by)
    if requirement.p is not None:
        yield EstimationClaim(name, requirement.p, requirement.q, by)
    if requirement.contributors is not None:
        yield ContributorsClaim(name, requirement.contributors, by)


def shared(given: ShareOfTotalClaim, required: ShareOfTotalClaim, between: ComparedPolicies) -> str | None:
    """Return why the largest have no more: as many or more have at most the share; fewer have a part of it."""
    if given.n >= required.n and given.share <= required.share:
        return _over(given, required, between, f"{given.share:g} of the {given.n} largest is at most as much")
    times = required.n / given.n
    if times > 1 and (given.share + _SLACK) * times <= required.share:
        text = f"{required.n} have at most {times:g} times what the {given.n} largest have"
        return _over(given, required, between, text)
    return None


def estimated(given: EstimationClaim, required: EstimationClaim, between: ComparedPolicies) -> str | None:
    """Return why the largest is no better known."""
    clearly = (given.p - _SLACK * max(1.0, given.p)) / given.q >= required.p / required.q
    if not clearly and (given.p < required.p or given.q > required.q):
        return None
    text = f"{given.p:g} % of {given.q:g} % is at least {required.p:g} % of {required.q:g} %"
    return _over(given, required, between, text)


def contributed(given: ContributorsClaim, required: ContributorsClaim, between: ComparedPolicies) -> str | None:
    """Return why there are as many."""
    if given.contributors < required.contributors:
        return None
    return _over(given, required, between, f"{given.contributors} are at least {required.contributors}")


def by_share(given: ShareOfTotalClaim, required: ContributorsClaim, between: ComparedPolicies) -> str | None:
    """Return why there are as many: of N contributors the n largest have n/N of the total or more."""
    most = given.share + _SLACK
    least = math.ceil(given.n / most - _SLACK)
    if most >= 1 or least < required.contributors:  # with all of a total the largest may be the only one
        return None
    return _over(given, required, between, f"a share of {given.share:g} needs {least} contributors")


def by_estimate(given: EstimationClaim, required: ContributorsClaim, between: ComparedPolicies) -> str | None:
    """Return why there are as many: none of the others contributes more than the largest."""
    ratio = (given.p - _SLACK * max(1.0, given.p)) / given.q
    least = 2 + math.ceil(ratio - _SLACK)
    if ratio <= 0 or least < required.contributors:
        return None
    return _over(given, required, between, f"what others contribute needs {least} contributors")


def far_by_share(given: ShareOfTotalClaim, required: EstimationClaim, between: ComparedPolicies) -> str | None:
    """Return why the largest is no better known: others than the two largest have what these leave of the total.

    (2, k) gives p = 100 (1 - k) / k (Hundepool et al. 2012, section 4.2: a share of 0.8 gives 25 %).
    """
    most = given.share + _SLACK
    others = 1.0 - most * max(1.0, 2.0 / given.n)
    p = required.q * others / most
    if p < required.p:
        return None
    return _over(given, required, between, f"a share of {given.share:g} leaves {p:.4g} % of the largest to others")


def _over(given: ClassClaim, required: ClassClaim, between: ComparedPolicies, why: str) -> str | None:
    name = required.attribute
    same = given.attribute == name and between.about(name) and between.same_original
    if not same or between.given.type(name) is not between.asked.type(name):
        return None
    holds = unions(given.attributes, required.attributes, between)
    if holds is None:
        return None
    return why if holds == SAME else f"{why}; {holds}"


ORDER = Order(
    says=says,
    rules=(
        (ShareOfTotalClaim, ShareOfTotalClaim, shared),
        (EstimationClaim, EstimationClaim, estimated),
        (ContributorsClaim, ContributorsClaim, contributed),
        (ShareOfTotalClaim, EstimationClaim, far_by_share),
        (ShareOfTotalClaim, ContributorsClaim, by_share),
        (EstimationClaim, ContributorsClaim, by_estimate),
    ),
    fields=frozenset(("attribute", "n", "share", "p", "q", "contributors", "attributes")),
)
