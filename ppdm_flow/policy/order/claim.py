"""A claim: one thing that must hold of every release, the clause that says so, and how two claims differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.order.frame import ComparedPolicies

Rule = Callable[[Any, Any, ComparedPolicies], str | None]
"""Says why what is given implies what is asked for, in words; None where it is not proved to."""
Rules = tuple[tuple[type[Any], type[Any], Rule], ...]
"""Rules by the kinds of claim that they go from, and to."""


@dataclass(frozen=True, slots=True)
class Order:
    """What the clauses of a kind of requirement claim, and the ``rules`` by which claims imply each other.

    ``says`` yields what a requirement claims. ``fields`` are those of the requirement that it looks at: whatever else a
    requirement says is only implied by the very same. ``bounds`` are those that only bound figures of their names.
    """

    says: Callable[[Any, Any], Iterator[Any]]
    rules: Rules
    fields: frozenset[str]
    bounds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ReleaseScope:
    """Which releases something is claimed of: those of these ``names``, or all where that is None.

    ``held`` is what they hold, by the steps that make it, and ``free`` what the other releases of the policy hold.
    """

    names: frozenset[str] | None = None
    held: frozenset[Hashable] = frozenset()
    free: frozenset[Hashable] = frozenset()

    def covers(self, other: ReleaseScope) -> bool:
        """Whether what is claimed here is claimed of all that it is claimed of there, whatever that is called."""
        if self.names is None:
            return True
        if other.names is None:
            return False
        return self.names >= other.names and not (self.free - other.free) & other.held


EVERYWHERE = ReleaseScope()


@dataclass(frozen=True, slots=True)
class Claim:
    """``says`` is a value of one of the kinds of claim; ``until`` the last day that it is waived for, if it is.

    Some of what a ``hidden`` one says comes from the environment: no sentence quotes it. ``scope`` says of
    which releases it is claimed.
    """

    clause: PolicyPath
    says: Hashable
    span: Span | None = None
    until: str = ""
    hidden: bool = False
    scope: ReleaseScope = EVERYWHERE


@dataclass(frozen=True, slots=True)
class OpaqueClaim:
    """A requirement of a kind that no rule is known of: only the very same one implies it."""

    kind: str
    content: str


def opaque(given: OpaqueClaim, asked: OpaqueClaim, between: ComparedPolicies) -> str | None:
    """Compare by content alone."""
    grounds = between.same_roles and between.same_original and between.given.nulls is between.asked.nulls
    return "the same clause" if given == asked and grounds else None


RULES: Rules = ((OpaqueClaim, OpaqueClaim, opaque),)


_MOST = 4


def differences(before: Sequence[Claim], after: Sequence[Claim]) -> list[str]:
    """Return what is different between claims of the same kind, each thing once; nothing of what is hidden."""
    words: dict[str, None] = {}
    for one in before:
        other = next((c for c in after if type(c.says) is type(one.says)), None)
        if other is not None and one.says != other.says and not (one.hidden or other.hidden):
            words |= dict.fromkeys(_fields(one.says, other.says))
    return list(words)[:_MOST]


def _fields(one: Any, other: Any) -> Iterator[str]:
    if not is_dataclass(one):
        return
    for field in (f for f in fields(one) if f.compare):
        values = getattr(one, field.name), getattr(other, field.name)
        if values[0] == values[1]:
            continue
        if isinstance(values[0], frozenset) and isinstance(values[1], frozenset):
            yield from _names(*values)
        elif isinstance(values[0], int | float) and isinstance(values[1], int | float):
            yield f"`{field.name}` goes from {values[0]:g} to {values[1]:g}"
        elif isinstance(values[0], str) and isinstance(values[1], str):
            yield f"`{field.name}` is `{values[1]}` and was `{values[0]}`"
        else:
            yield f"`{field.name}` differs"


def _names(before: frozenset[Any], after: frozenset[Any]) -> Iterator[str]:
    for names, verb in ((after - before, "is new"), (before - after, "is gone")):
        if names:
            listed = ", ".join(f"`{name}`" for name in sorted(map(str, names)))
            yield f"{listed} {verb if len(names) == 1 else verb.replace('is', 'are')}"
