"""What a change does to a policy, clause by clause and as a whole: clauses are lines for people, with their places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.linked import written_path
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading
from ppdm_flow.policy.redaction import UNSHOWN


class ChangeVerdict(StrEnum):
    """What a changed clause is, compared with what it was."""

    STRONGER = "stronger"
    WEAKER = "weaker"
    INCOMPARABLE = "incomparable"
    NEUTRAL = "neutral"


class PolicyRelation(StrEnum):
    """What the new policy is, compared with the old one."""

    EQUAL = "equal"
    STRICTER = "stricter"
    WEAKER = "weaker"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True, slots=True)
class ClauseText:
    """A clause as one of the two policies has it: its text in one line, and where it stands."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class ComparedClause:
    """One clause that is not the same in both. A side is None where the policy has no such clause.

    ``clause`` is its path in the new policy (in the old one where it was removed), ``why`` a sentence on the rule.
    """

    clause: str
    verdict: ChangeVerdict
    why: str
    old: ClauseText | None = None
    new: ClauseText | None = None


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """The comparison of two policies. ``governance`` are floors, and who may sign: they bind people, and no release."""

    relation: PolicyRelation
    changes: tuple[ComparedClause, ...]
    governance: tuple[ComparedClause, ...] = ()


def verdict(*, forward: bool, backward: bool) -> ChangeVerdict:
    """Return the verdict where the new clause implies the old one (``forward``), and conversely (``backward``)."""
    if forward:
        return ChangeVerdict.NEUTRAL if backward else ChangeVerdict.STRONGER
    return ChangeVerdict.WEAKER if backward else ChangeVerdict.INCOMPARABLE


def relation(changes: Iterable[ComparedClause]) -> PolicyRelation:
    """Return what all changes come to."""
    verdicts = {change.verdict for change in changes} - {ChangeVerdict.NEUTRAL}
    if not verdicts:
        return PolicyRelation.EQUAL
    if verdicts == {ChangeVerdict.STRONGER}:
        return PolicyRelation.STRICTER
    return PolicyRelation.WEAKER if verdicts == {ChangeVerdict.WEAKER} else PolicyRelation.INCOMPARABLE


_MOST = 120


@dataclass(frozen=True, slots=True)
class Clauses:
    """One policy's text by path. Values from the environment are never shown."""

    loaded: PolicyReading

    @property
    def policy(self) -> Policy:
        """The typed policy. Raises ValueError where it is not valid."""
        if self.loaded.policy is None:
            raise ValueError("only valid policies can be compared")
        return self.loaded.policy

    def side(self, path: PolicyPath, text: str | None = None) -> ClauseText:
        """Return what stands at ``path``, or ``text`` in its place, and the line of its key."""
        span = self._at(path)
        if text is not None and path not in self.loaded.hidden:
            shown = text
        else:
            shown = "" if span is None else self._text(span, path, top=True)
        return ClauseText(shown if len(shown) <= _MOST else f"{shown[: _MOST - 1]}…", self.span(path))

    def span(self, path: PolicyPath) -> Span | None:
        """Return where the key at ``path`` stands, or the nearest above it."""
        return self.loaded.places.key(*path)

    def has(self, path: PolicyPath) -> bool:
        """Whether something stands at ``path``."""
        return self._at(path) is not None

    def hides(self, *path: str) -> bool:
        """Whether something at ``path``, or below it, comes from the environment."""
        return any(hidden[: len(path)] == path for hidden in self.loaded.hidden)

    def _at(self, path: PolicyPath) -> Any:
        tree: Any = self.loaded.tree
        for part in written_path(path, self.policy):
            if not isinstance(tree, Mapping) or part not in tree:
                return None
            tree = tree[part]
        return tree

    def _text(self, value: Any, path: PolicyPath, *, top: bool = False) -> str:
        if isinstance(value, Mapping):
            parts = [f"{key}: {self._text(item, (*path, str(key)))}" for key, item in value.items()]
            inner = ", ".join(parts)
            return inner if top else f"{{{inner}}}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(self._text(item, (*path, str(i))) for i, item in enumerate(value)) + "]"
        if path in self.loaded.hidden:
            return UNSHOWN
        return "null" if value is None else str(value) or '""'
