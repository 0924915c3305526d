"""What a change does to a policy: clause by clause, and as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ppdm_flow.core.spans import Span


class Verdict(StrEnum):
    """What a changed clause is, compared with what it was."""

    STRONGER = "stronger"
    WEAKER = "weaker"
    INCOMPARABLE = "incomparable"
    NEUTRAL = "neutral"


class Relation(StrEnum):
    """What the new policy is, compared with the old one."""

    EQUAL = "equal"
    STRICTER = "stricter"
    WEAKER = "weaker"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True, slots=True)
class Side:
    """A clause as one of the two policies has it: its text in one line, and where it stands."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One clause that is not the same in both. A side is None where the policy has no such clause.

    ``clause`` is its path in the new policy (in the old one where it was removed), ``why`` a sentence on the rule.
    """

    clause: str
    verdict: Verdict
    why: str
    old: Side | None = None
    new: Side | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """The comparison of two policies. ``governance`` are floors: they bind those who write, and no release."""

    relation: Relation
    changes: tuple[Change, ...]
    governance: tuple[Change, ...] = ()


def verdict(*, forward: bool, backward: bool) -> Verdict:
    """Return the verdict where the new clause implies the old one (``forward``), and conversely (``backward``)."""
    if forward:
        return Verdict.NEUTRAL if backward else Verdict.STRONGER
    return Verdict.WEAKER if backward else Verdict.INCOMPARABLE


def relation(changes: Iterable[Change]) -> Relation:
    """Return what all changes come to."""
    found = {change.verdict for change in changes} - {Verdict.NEUTRAL}
    if not found:
        return Relation.EQUAL
    if found == {Verdict.STRONGER}:
        return Relation.STRICTER
    return Relation.WEAKER if found == {Verdict.WEAKER} else Relation.INCOMPARABLE
