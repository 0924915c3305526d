"""Changes of a policy as values: something is put at a path, or taken away."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.policy.text.nodes import Map, Node, PolicyPath, Scalar, UnreadableError, written
from ppdm_flow.policy.text.parse import PLACEHOLDER, parse
from ppdm_flow.policy.text.quoting import plain_or_quoted, quoted
from ppdm_flow.policy.text.reading import forbidden

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


# What a policy's text says, as values, and what a change makes of it.


NAME = "name"


def tree_of(text: str, file: str = "policy.yaml") -> Tree:
    """Return what a text says. Raises PolicyError with all that keeps it from being read."""
    fault = forbidden(text, file)
    if fault is not None:
        raise PolicyError(fault, {file: text})
    try:
        root, diagnostics = parse(text, file)
    except UnreadableError as error:
        raise PolicyError(error.diagnostic, {file: text}) from None
    if diagnostics:
        raise PolicyError(diagnostics, {file: text})
    return None if root is None else _tree(root)


def readable_tree(text: str, file: str = "policy.yaml") -> Tree:
    """Return as much of what a text says as loading it reads: faults that do not hide the rest are passed over."""
    plain = text.removeprefix("\ufeff")
    if forbidden(plain, file) is not None:
        return None
    try:
        root, _ = parse(plain, file)
    except UnreadableError:
        return None
    return None if root is None else _tree(root)


def _tree(node: Node) -> Tree:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Map):
        return {key: _tree(entry.node) for key, entry in node.entries.items()}
    return [_tree(item) for item in node.items]


def same(one: Tree, other: Tree) -> bool:
    """Whether two trees say the same, their maps in the same order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return one == other


def at(tree: Tree, path: PolicyPath) -> Tree:
    """Return what a tree has at a path; None where it has nothing."""
    for part in path:
        if isinstance(tree, dict):
            tree = tree.get(part)
        elif isinstance(tree, list):
            place = place_in(tree, part)
            tree = tree[place] if place is not None and place < len(tree) else None
        else:
            return None
    return tree


def place_in(items: list[Tree], part: str) -> int | None:
    """Return the place of an item: its number, or that of the map with this name; the length: behind the last."""
    if part.isdecimal() and part.isascii():
        return int(part) if int(part) <= len(items) else None
    named = (i for i, item in enumerate(items) if isinstance(item, dict) and item.get(NAME) == part)
    return next(named, None)


def changed(tree: Tree, change: PolicyEdit) -> Tree:
    """Return what a tree is after a change. Raises PolicyError where its path leads nowhere."""
    return _changed(tree, change, 0)


def _changed(tree: Tree, change: PolicyEdit, depth: int) -> Tree:
    if depth == len(change.path):
        return tree if isinstance(change.value, RemovedValue) else as_tree(change.value)
    part, last = change.path[depth], depth + 1 == len(change.path)
    removes = isinstance(change.value, RemovedValue)
    if isinstance(tree, list):
        return _changed_list(tree, change, depth)
    if tree is not None and not isinstance(tree, dict):
        if removes:
            return tree
        raise unwritable(change.path[:depth], "it is a text, and nothing can stand below it")
    entries = tree or {}
    if part in entries:
        if removes and last:
            return {key: value for key, value in entries.items() if key != part}
        return {key: _changed(value, change, depth + 1) if key == part else value for key, value in entries.items()}
    if removes:
        return tree
    return inserted(entries, part, _changed(None, change, depth + 1), change.after if last else None)


def inserted(entries: dict[str, Tree], part: str, value: Tree, after: str | None) -> dict[str, Tree]:
    """Return a map with one more key, behind another."""
    place = place_behind(list(entries), after)
    every = list(entries.items())
    return dict([*every[:place], (part, value), *every[place:]])


def place_behind(keys: list[str], after: str | None) -> int:
    """Return the place of a new key behind the key ``after``; last where there is none of that name."""
    if after == "":
        return 0
    return keys.index(after) + 1 if after in keys else len(keys)


def _changed_list(items: list[Tree], change: PolicyEdit, depth: int) -> Tree:
    part, last = change.path[depth], depth + 1 == len(change.path)
    place, removes = place_in(items, part), isinstance(change.value, RemovedValue)
    if place is None or (removes and place == len(items)):
        if removes:
            return items
        raise unwritable(change.path[: depth + 1], "the list has no such entry")
    if removes and last:
        return [*items[:place], *items[place + 1 :]]
    below = items[place] if place < len(items) else None
    return [*items[:place], _changed(below, change, depth + 1), *items[place + 1 :]]


def unwritable(path: PolicyPath, why: str) -> PolicyError:
    """Return the error that says why a change cannot be written into a text."""
    place = f"`{written(path)}`" if path else "the policy"
    message = f"cannot change {place} in place: {why}"
    return PolicyError(Diagnostic("PPF127", message, help="edit the YAML itself"))


# Values as YAML: in one line, or as a block of lines.


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[0-9]+)?")
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*([./][A-Za-z0-9_-]+)+")
_SWITCH = frozenset({"true", "false"})
_WIDTH = 110


def scalar(text: str | None, style: str = "") -> str:
    """Return a text as YAML, between the quotes that ``style`` says where it can stand there.

    Numbers, switches, paths and references to params are plain.
    """
    if text is None:
        return "null"
    if style == "'" and text.isprintable() and "'" not in text:
        return f"'{text}'"
    if style == '"':
        return quoted(text)
    plain = _NUMBER.fullmatch(text) or _PATH.fullmatch(text) or PLACEHOLDER.fullmatch(text) or text in _SWITCH
    return text if plain else plain_or_quoted(text)


def in_line(value: Tree, style: str = "") -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key(name)}: {in_line(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(in_line(each) for each in value) + "]"
    return scalar(value, style)


def key(name: str) -> str:
    """Return a key as YAML."""
    return plain_or_quoted(name)


def in_lines(name: str, value: Tree, indent: int, step: int, *, section: bool = False) -> Iterator[str]:
    """Yield an entry of a block: in one line where that fits, each entry of a section in a line of its own."""
    line = f"{' ' * indent}{key(name)}: {in_line(value)}"
    if isinstance(value, dict) and value and (section or len(line) > _WIDTH):
        yield f"{' ' * indent}{key(name)}:"
        for below, each in value.items():
            yield from in_lines(below, each, indent + step, step)
    else:
        yield line
