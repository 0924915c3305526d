"""What a policy's text says, as values, and what a change makes of it."""

from __future__ import annotations

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.policy.edit.changes import PolicyEdit, RemovedValue, Tree, as_tree
from ppdm_flow.policy.text.nodes import Map, Node, PolicyPath, Scalar, UnreadableError, written
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import forbidden

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
