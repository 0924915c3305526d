"""A policy's text as a tree of keys and values with their places; and paths in it as texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.spans import Span


class UnreadableError(Exception):
    """A file's text cannot be understood any further; its loader turns this into a diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


PolicyPath = tuple[str, ...]
"""Keys from the root; positions in lists as decimal text."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One text, or None for a plain ``~``, ``null`` or nothing.

    ``origin`` are the places that its text came from, where it was put together from params. A value from the
    environment is not ``quotable``. A ``broken`` one could not be put together: its fault is already reported.
    """

    text: str | None
    span: Span
    plain: bool = True
    origin: tuple[RelatedPlace, ...] = ()
    notes: tuple[str, ...] = ()
    quotable: bool = True
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Seq:
    """A list."""

    items: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MappingEntry:
    """A key's place and its value. ``plain`` says that the key stands without quotes."""

    key_span: Span
    node: Node
    plain: bool = True


@dataclass(frozen=True, slots=True)
class Map:
    """A map, in the order of the file. A ``partial`` one lacks entries whose fault is already reported."""

    entries: Mapping[str, MappingEntry]
    span: Span
    partial: bool = False

    def get(self, key: str) -> Node | None:
        """Return the value at ``key``, or None."""
        entry = self.entries.get(key)
        return None if entry is None else entry.node


Node = Scalar | Seq | Map


_PART = re.compile(r'"([^"]*)"|([^."]+)')
_SPECIAL = re.compile(r"[.\"]|\A\Z")


def split(text: str) -> PolicyPath:
    """Return the names of a path: ``attributes."home.town".role`` has three."""
    parts: list[str] = []
    position = 0
    while match := _PART.match(text, position):
        parts.append(match[2] if match[1] is None else match[1])
        position = match.end() + 1
        if text[match.end() : position] != ".":
            break
    return tuple(parts) if position > len(text) else tuple(text.split("."))


def written(path: PolicyPath) -> str:
    """Return a path as a policy writes it."""
    return ".".join(f'"{part}"' if _SPECIAL.search(part) else part for part in path)


# A policy's tree made ready for merging: `null` deletes, and lists of named entries become maps by name.


def is_null(node: Node) -> bool:
    """Whether the value is a plain ``null``, ``~`` or nothing at all."""
    return isinstance(node, Scalar) and node.text is None and not node.broken


NONE = "none"
"""The word that stands in place of the requirements under ``privacy`` where a policy has none on purpose."""


def is_none(node: Node | None) -> bool:
    """Whether a value is the word ``none``."""
    return isinstance(node, Scalar) and node.text == NONE and not node.broken


def without_nulls(node: Map, report: Callable[[PolicyPath, MappingEntry | Scalar], None]) -> Map:
    """Leave out every value that is null, in lists as well, and report each with its path."""
    kept = _kept(node, (), report)
    if not isinstance(kept, Map):
        raise TypeError("a map stays a map")
    return kept


def _kept(node: Node, path: PolicyPath, report: Callable[[PolicyPath, MappingEntry | Scalar], None]) -> Node:
    if isinstance(node, Scalar):
        return node
    if isinstance(node, Seq):
        items = []
        for i, item in enumerate(node.items):
            if isinstance(item, Scalar) and item.text is None:
                report((*path, str(i)), item)
            else:
                items.append(_kept(item, (*path, str(i)), report))
        return Seq(tuple(items), node.span)
    entries = {}
    for key, entry in node.entries.items():
        below = (*path, key)
        if isinstance(entry.node, Scalar) and entry.node.text is None:
            report(below, entry)
        else:
            entries[key] = MappingEntry(entry.key_span, _kept(entry.node, below, report), entry.plain)
    return Map(entries, node.span, node.partial)


_NAME = "name"


def by_name(root: Map, section: str, several: Callable[[str], bool]) -> Map:
    """Return a policy's tree in which lists at keys of a section are maps by the names of their entries.

    ``several`` says of a key whether it may have such a list.

    A list with an entry that is no map, or has no name, or one that another has, stays a list.
    """
    entry = root.entries.get(section)
    if entry is None or not isinstance(entry.node, Map):
        return root
    node = entry.node
    entries = {}
    for key, each in node.entries.items():
        several_there = isinstance(each.node, Seq) and several(key)
        entries[key] = MappingEntry(each.key_span, _named(each.node), each.plain) if several_there else each
    below = Map(entries, node.span, node.partial)
    return Map({**root.entries, section: MappingEntry(entry.key_span, below, entry.plain)}, root.span, root.partial)


def _named(node: Node) -> Node:
    if not isinstance(node, Seq):
        return node
    entries: dict[str, MappingEntry] = {}
    for item in node.items:
        name = item.get(_NAME) if isinstance(item, Map) else None
        if not isinstance(item, Map) or not isinstance(name, Scalar) or not name.text or name.text in entries:
            return node
        rest = {key: e for key, e in item.entries.items() if key != _NAME}
        entries[name.text] = MappingEntry(name.span, Map(rest, item.span, item.partial))
    return Map(entries, node.span)
