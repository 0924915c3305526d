"""What is to change in a policy, as values: at a path something is put, or taken away."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.policy.text.nodes import PolicyPath

Tree = str | None | list[Any] | dict[str, Any]
"""What a policy's text says: every scalar is text, or None for nothing; maps keep their order."""
Value = str | int | float | bool | Sequence[Any] | Mapping[str, Any] | None
"""What can be put; None is written as ``null``, which takes away what a template says."""


class RemovedValue(Enum):
    """The mark of what is taken away."""

    REMOVED = "removed"


REMOVED: Final = RemovedValue.REMOVED
FIRST: Final = ""
LAST: Final = None


@dataclass(frozen=True, slots=True)
class PolicyEdit:
    """At ``path`` (keys from the root; in lists positions, or the ``name`` of an entry) the value is to be this.

    A map that is there already is changed entry by entry, so that what stays equal stays as it is written. What is
    missing on the way is made. A key that a map does not have yet goes behind the key ``after``: `FIRST`, `LAST`.
    """

    path: PolicyPath
    value: Value | RemovedValue
    after: str | None = LAST


def put(path: Sequence[str], value: Value, after: str | None = LAST) -> PolicyEdit:
    """Return the change that puts a value at a path."""
    return PolicyEdit(tuple(path), value, after)


def remove(path: Sequence[str]) -> PolicyEdit:
    """Return the change that takes away what is at a path; nothing changes where nothing is."""
    return PolicyEdit(tuple(path), REMOVED)


def as_tree(value: Value) -> Tree:
    """Return a value as a policy's text says it. Raises ValueError for numbers that are none, and for other types."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a policy holds finite numbers only")
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, Mapping):
        return {str(key): as_tree(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [as_tree(each) for each in value]
    raise ValueError(f"a policy holds texts, numbers, lists and maps, not {type(value).__name__}")


def to_json(changes: Iterable[PolicyEdit]) -> str:
    """Return changes as JSON, for a field of a form or an address."""
    return json.dumps([_entry(change) for change in changes], ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> tuple[PolicyEdit, ...]:
    """Return the changes that a JSON text holds; anybody may have written it. Raises UsageError (PPF128)."""
    try:
        entries = json.loads(text)
        return tuple(_change(entry) for entry in entries)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        fault = Diagnostic("PPF128", "the proposed change of the policy cannot be read", help="ask for it once more")
        raise UsageError(fault) from None


def _entry(change: PolicyEdit) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": list(change.path)}
    if change.value is not REMOVED:
        entry["value"] = change.value
    if change.after is not LAST:
        entry["after"] = change.after
    return entry


def _change(entry: Any) -> PolicyEdit:
    path, after = entry["path"], entry.get("after")
    known = entry.keys() <= {"path", "value", "after"}
    if not known or not isinstance(path, list) or not all(isinstance(part, str) and part for part in path):
        raise ValueError("a change has a path of texts")
    if after is not None and not isinstance(after, str):
        raise ValueError("`after` is a key")
    if "value" in entry:
        as_tree(entry["value"])
        return PolicyEdit(tuple(path), entry["value"], after)
    return PolicyEdit(tuple(path), REMOVED, after)
