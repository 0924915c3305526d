"""A policy's text as a tree in which every key and every value knows its place, and paths in it as texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
