"""In what two claims of one kind differ, in words: for clauses of which neither implies the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from ppdm_flow.policy.order.claim import Claim

_MOST = 4


def differences(before: Sequence[Claim], after: Sequence[Claim]) -> list[str]:
    """Return what is different between claims of the same kind, each thing once; nothing of what is hidden."""
    found: dict[str, None] = {}
    for one in before:
        other = next((c for c in after if type(c.says) is type(one.says)), None)
        if other is not None and one.says != other.says and not (one.hidden or other.hidden):
            found |= dict.fromkeys(_fields(one.says, other.says))
    return list(found)[:_MOST]


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
