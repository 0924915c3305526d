"""What a ledger asks of releases one after another: comparable only within one ledger's history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Role
from ppdm_flow.policy.order.claim import Rules
from ppdm_flow.policy.order.frame import Between, PolicyFrame, by_role
from ppdm_flow.requirements.cumulative_k.requirement import CumulativeK
from ppdm_flow.requirements.first_draw.requirement import FirstDraw


@dataclass(frozen=True, slots=True)
class Together:
    """All releases together leave groups of ``k`` people, who are told apart by ``attributes``."""

    k: int
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Undrawn:
    """None of ``attributes`` has been released before, of the same people."""

    attributes: frozenset[str]


def of_cumulative(requirement: CumulativeK, frame: PolicyFrame) -> Iterator[Together]:
    """Yield what cumulative k claims: quasi-identifiers count in any case."""
    yield Together(requirement.k, frozenset((*requirement.attributes, *by_role(frame.having(Role.QUASI_IDENTIFIER)))))


def of_first(requirement: FirstDraw, _frame: PolicyFrame) -> Iterator[Undrawn]:
    """Yield what a first draw claims."""
    yield Undrawn(frozenset(requirement.attributes))


def together(given: Together, asked: Together, between: Between) -> str | None:
    """Larger groups, of people who are told apart by more."""
    if given.k < asked.k or not given.attributes >= asked.attributes or not _one_history(between):
        return None
    if not between.certain(given.attributes, asked.attributes):
        return None
    where = "beside the same releases" if between.asked.policy.ledger is None else "in the same ledger"
    return f"groups of {given.k} people are groups of {asked.k}, {where}"


def undrawn(given: Undrawn, asked: Undrawn, between: Between) -> str | None:
    """More attributes, none of which was released before."""
    same = _one_history(between) and between.certain(given.attributes, asked.attributes)
    return "the same attributes or more, in the same ledger" if same and given.attributes >= asked.attributes else None


def _one_history(between: Between) -> bool:
    one, other = between.given, between.asked
    seen = one.policy.recipients in ("together", other.policy.recipients)
    return one.ledger == other.ledger and seen and between.same_original


RULES: Rules = ((Together, Together, together), (Undrawn, Undrawn, undrawn))
