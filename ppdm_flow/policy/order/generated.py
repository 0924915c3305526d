"""Requirements on rows that come up again: the anonymity score, and how rare rows blend in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.supports import Support
from ppdm_flow.policy.order.claim import Rules
from ppdm_flow.policy.order.frame import NEVER_MATCHED, Between, PolicyFrame
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore
from ppdm_flow.requirements.blend.requirement import Blend


@dataclass(frozen=True, slots=True)
class Score:
    """The Normalised Anonymity Score is at most ``maximum``."""

    maximum: float


@dataclass(frozen=True, slots=True)
class Blended:
    """Of released rows rarer than ``support``, at most a share of ``maximum`` is rarer in the original too."""

    support: Support
    maximum: float


def of_score(requirement: AnonymityScore, _frame: PolicyFrame) -> Iterator[Score]:
    """Yield what the score claims."""
    yield Score(requirement.maximum)


def of_blend(requirement: Blend, _frame: PolicyFrame) -> Iterator[Blended]:
    """Yield what blending claims."""
    yield Blended(requirement.min_support, requirement.maximum)


def scores(given: Score, asked: Score, between: Between) -> str | None:
    """A lower score implies a higher one, if the same columns are compared."""
    if given.maximum > asked.maximum or not _compared_alike(between):
        return None
    return f"at most {given.maximum:g} is at most {asked.maximum:g}"


def blends(given: Blended, asked: Blended, between: Between) -> str | None:
    """A lower share implies a higher one of the same rare rows; other supports make other rows rare.

    Where no rare row is rare in the original, none of the rarer ones is.
    """
    if given.maximum > asked.maximum or not _compared_alike(between):
        return None
    if given.support != asked.support:
        fewer = given.maximum == 0 and given.support.includes(asked.support)
        return "no row that is rare is rare in the original, so none that is rarer" if fewer else None
    return f"at most {given.maximum:g} is at most {asked.maximum:g}, of the same rows"


def _compared_alike(between: Between) -> bool:
    """Whether whole rows are compared in the same columns, and numbers by the same intervals."""
    frames = between.given, between.asked
    if not between.same_original or len({f.having(*NEVER_MATCHED) for f in frames}) > 1:
        return False
    names = [frozenset(f.policy.attributes) for f in frames]
    return names[0] == names[1] and all(between.same_hierarchy(name) for name in names[0]) and _orderly(between)


def _orderly(between: Between) -> bool:
    return between.same_roles or between.certain(between.given.policy.attributes)


RULES: Rules = ((Score, Score, scores), (Blended, Blended, blends))
