"""Bounds on how the values of a class are distributed: alpha, delta, beta, and the distance t.

All of them are no worse for a union of classes than for the worst of these: shares of a union are weighted means, and
the distance is convex in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import AttributeType, ValuesAbsent
from ppdm_flow.policy.order.claim import Rules
from ppdm_flow.policy.order.classes import SAME, unions
from ppdm_flow.policy.order.frame import Between, PolicyFrame
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness


@dataclass(frozen=True, slots=True)
class Share:
    """In no class is the share of ``value`` above ``alpha``; of any value, where it is None."""

    attribute: str
    value: str | None
    alpha: float
    attributes: frozenset[str]
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


@dataclass(frozen=True, slots=True)
class Ratio:
    """|ln(share in the class / share in the table)| is at most ``delta``."""

    attribute: str
    delta: float
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Gain:
    """A share in a class is at most 1 + ``beta`` times that in the table."""

    attribute: str
    beta: float
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Near:
    """The distribution in a class is within ``t`` of that in the table; ``order`` and ``type`` say how values rank."""

    attribute: str
    t: float
    attributes: frozenset[str]
    distance: Distance
    order: tuple[str, ...] = ()
    dates: bool = False
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


def of_alpha(requirement: AlphaK, _frame: PolicyFrame) -> Iterator[Share]:
    """Yield what alpha claims: of each value that it names, or of any."""
    for value in requirement.values or (None,):
        absent = requirement.values_absent if requirement.values else ValuesAbsent.ERROR
        yield Share(requirement.attribute, value, requirement.alpha, frozenset(requirement.attributes), absent)


def of_delta(requirement: DeltaDisclosure, _frame: PolicyFrame) -> Iterator[Ratio]:
    """Yield what delta claims."""
    yield Ratio(requirement.attribute, requirement.delta, frozenset(requirement.attributes))


def of_beta(requirement: BetaLikeness, _frame: PolicyFrame) -> Iterator[Gain]:
    """Yield what beta claims."""
    yield Gain(requirement.attribute, requirement.beta, frozenset(requirement.attributes))


def of_t(requirement: TCloseness, frame: PolicyFrame) -> Iterator[Near]:
    """Yield what t claims."""
    ranked = requirement.distance is Distance.ORDERED
    dates = ranked and not requirement.order and frame.type(requirement.attribute) is AttributeType.DATE
    yield Near(
        requirement.attribute,
        requirement.t,
        frozenset(requirement.attributes),
        requirement.distance,
        requirement.order,
        dates,
        requirement.values_absent if requirement.order else ValuesAbsent.ERROR,
    )


def shares(given: Share, asked: Share, between: Between) -> str | None:
    """A bound on all values is one on each, and a lower one is a higher one."""
    if given.value not in (None, asked.value) or not given.values_absent.covers(asked.values_absent):
        return None
    return _bounded(given, asked, given.alpha, asked.alpha, between)


def ratios(given: Ratio, asked: Ratio, between: Between) -> str | None:
    """A lower delta implies a higher one."""
    return _bounded(given, asked, given.delta, asked.delta, between)


def gains(given: Gain, asked: Gain, between: Between) -> str | None:
    """A lower beta implies a higher one."""
    return _bounded(given, asked, given.beta, asked.beta, between)


def gains_of_ratios(given: Ratio, asked: Gain, between: Between) -> str | None:
    """A ratio of at most e^delta is a gain of at most e^delta - 1."""
    return _bounded(
        given, asked, math.expm1(min(given.delta, 700.0)), asked.beta, between, "beta is at most e^delta - 1"
    )


def near(given: Near, asked: Near, between: Between) -> str | None:
    """A lower t implies a higher one; over fewer attributes where all values are equally far apart.

    By ranks, what is suppressed or missing is moved first: then the distance is not convex, so classes must be the
    same.
    """
    ways = [(n.distance, n.order, n.dates) for n in (given, asked)]
    ranked = given.distance is Distance.ORDERED
    if (
        not given.values_absent.covers(asked.values_absent)
        or ways[0] != ways[1]
        or (ranked and unions(given.attributes, asked.attributes, between) != SAME)
    ):
        return None
    return _bounded(given, asked, given.t, asked.t, between)


def near_by_gains(given: Gain, asked: Near, between: Between) -> str | None:
    """Where values that gain hold a share x of the table, the distance is at most min(beta x, 1 - x)."""
    if asked.distance is not Distance.EQUAL:
        return None
    most = given.beta / (1.0 + given.beta)
    return _bounded(given, asked, most, asked.t, between, "the distance is at most beta / (1 + beta)")


def near_by_ratios(given: Ratio, asked: Near, between: Between) -> str | None:
    """The same, through the gain that a ratio allows."""
    return near_by_gains(Gain(given.attribute, math.expm1(min(given.delta, 700.0)), given.attributes), asked, between)


def _bounded(
    given: Share | Ratio | Gain | Near,
    asked: Share | Ratio | Gain | Near,
    most: float,
    bound: float,
    between: Between,
    how: str = "",
) -> str | None:
    if given.attribute != asked.attribute or most > bound or not between.about(given.attribute):
        return None
    holds = unions(given.attributes, asked.attributes, between)
    if holds is None:
        return None
    first = how or f"at most {most:g} is at most {bound:g}"
    return first if holds == SAME else f"{first}; {holds}"


RULES: Rules = (
    (Share, Share, shares),
    (Ratio, Ratio, ratios),
    (Gain, Gain, gains),
    (Ratio, Gain, gains_of_ratios),
    (Near, Near, near),
    (Gain, Near, near_by_gains),
    (Ratio, Near, near_by_ratios),
)
