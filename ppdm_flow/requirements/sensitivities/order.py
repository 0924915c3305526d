"""(r1, r2) bounds: which pair implies which.

An operator keeps (r1, r2) upward if and only if the amplification of the value is at most
gamma = r2 (1 - r1) / (r1 (1 - r2)), and downward if and only if the reverse ratio is (Chaytor and Wang, Theorem 1;
Evfimievski, Gehrke, Srikant, PODS 2003). So of two bounds on one value the one with the smaller gamma implies the
other, whatever their r1 and r2 are. A tolerance theta has gamma = theta (1 - f) / (1 - theta f) for the frequency f:
it grows with theta and with f, and is never below theta.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Directions
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity, slack_of

ROUNDING = 1e-12
"""Relative rounding of a gamma that is computed from two written numbers."""


@dataclass(frozen=True, slots=True)
class OperatorClaim:
    """If the attribute is released, the operator that it went through is known, and fits the bytes."""

    requirement: Sensitivity


@dataclass(frozen=True, slots=True)
class ValueKept:
    """One value keeps all its bounds in one direction; ``slack`` is the smallest gamma, less 1."""

    requirement: Sensitivity
    value: str
    upward: bool
    slack: float


@dataclass(frozen=True, slots=True)
class OthersKept:
    """Values without bounds of their own keep the default in one direction."""

    requirement: Sensitivity
    upward: bool


def says(requirement: Sensitivity, _frame: PolicyFrame) -> Iterator[OperatorClaim | ValueKept | OthersKept]:
    """Yield that the operator is known, and what each value, and all others, keep in each direction."""
    yield OperatorClaim(requirement)
    both = (True, False) if requirement.directions is Directions.BOTH else (True,)
    for upward in both:
        for value, slack in _slacks(requirement).items():
            yield ValueKept(requirement, value, upward, slack)
        if requirement.tolerance is not None or requirement.fixed is not None:
            yield OthersKept(requirement, upward)


def operated(given: OperatorClaim, required: OperatorClaim, between: ComparedPolicies) -> str | None:
    """Any bound on the attribute asks for its operator."""
    return "both ask for a known operator" if _alike(given.requirement, required.requirement, between) else None


def values(given: ValueKept, required: ValueKept, between: ComparedPolicies) -> str | None:
    """The smaller gamma implies the larger."""
    same = given.value == required.value and given.upward == required.upward and _refuses(given, required)
    if (
        not same
        or not _alike(given.requirement, required.requirement, between)
        or not _at_most(given.slack, required.slack)
    ):
        return None
    return f"gamma of {1 + given.slack:.6g} is at most {1 + required.slack:.6g}"


def values_of_default(given: OthersKept, required: ValueKept, between: ComparedPolicies) -> str | None:
    """A fixed default bounds whatever value has no bound of its own."""
    if given.upward != required.upward or not _alike(given.requirement, required.requirement, between):
        return None
    default = _fixed(given.requirement)
    free = required.value not in _slacks(given.requirement)
    if default is None or not free or not _at_most(default, required.slack):
        return None
    return f"the default has a gamma of {1 + default:.6g}, which is at most {1 + required.slack:.6g}"


def others(given: OthersKept, required: OthersKept, between: ComparedPolicies) -> str | None:
    """A default implies another if it does so for every value that has no bound of its own there."""
    one, other = given.requirement, required.requirement
    if given.upward != required.upward or not _alike(one, other, between):
        return None
    own, theirs = _slacks(one), _slacks(other)
    least = _least(other)
    if any(not _at_most(slack, least) for value, slack in own.items() if value not in theirs):
        return None
    if one.tolerance is not None and other.tolerance is not None and between.same_original:
        return f"a tolerance of {one.tolerance:g} is at most {other.tolerance:g}" if _tighter(one, other) else None
    default = _fixed(one)
    if default is None or not _at_most(default, least):
        return None
    return f"the default has a gamma of {1 + default:.6g}, which is at most {1 + least:.6g}"


def _refuses(given: ValueKept, required: ValueKept) -> bool:
    """Whether data that lacks the value is refused wherever the required clause refuses it."""
    return given.requirement.values_absent.covers(required.requirement.values_absent)


def _tighter(one: Sensitivity, other: Sensitivity) -> bool:
    return one.tolerance is not None and other.tolerance is not None and one.tolerance <= other.tolerance


def _alike(one: Sensitivity, other: Sensitivity, between: ComparedPolicies) -> bool:
    """Whether both are about the same columns."""
    return one.attribute == other.attribute and between.same_counting and between.about(one.attribute)


def _slacks(requirement: Sensitivity) -> dict[str, float]:
    """Return the smallest gamma - 1 of each value with bounds of its own."""
    slacks: dict[str, float] = {}
    for bound in requirement.bounds:
        slack = slack_of(bound.r1, bound.r2)
        slacks[bound.value] = min(slack, slacks.get(bound.value, slack))
    return slacks


def _fixed(requirement: Sensitivity) -> float | None:
    if requirement.tolerance is not None or requirement.fixed is None:
        return None
    return slack_of(*requirement.fixed)


def _least(requirement: Sensitivity) -> float:
    """Return the smallest gamma - 1 that the default comes to at any frequency."""
    fixed = _fixed(requirement)
    return (requirement.tolerance or 1.0) - 1.0 if fixed is None else fixed


def _at_most(one: float, other: float) -> bool:
    return one <= other * (1.0 + ROUNDING)


ORDER = Order(
    says=says,
    rules=(
        (OperatorClaim, OperatorClaim, operated),
        (ValueKept, ValueKept, values),
        (OthersKept, ValueKept, values_of_default),
        (OthersKept, OthersKept, others),
    ),
    fields=frozenset(
        (
            "attribute",
            "directions",
            "values",
            "groups",
            "default",
            "domain",
            "values_absent",
        )
    ),
)
