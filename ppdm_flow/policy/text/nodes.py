"""A policy's text as a tree in which every key and every value knows its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Related
from ppdm_flow.core.spans import Span

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
    origin: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    quotable: bool = True
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Seq:
    """A list."""

    items: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """A key's place and its value. ``plain`` says that the key stands without quotes."""

    key_span: Span
    node: Node
    plain: bool = True


@dataclass(frozen=True, slots=True)
class Map:
    """A map, in the order of the file. A ``partial`` one lacks entries whose fault is already reported."""

    entries: Mapping[str, Entry]
    span: Span
    partial: bool = False

    def get(self, key: str) -> Node | None:
        """Return the value at ``key``, or None."""
        entry = self.entries.get(key)
        return None if entry is None else entry.node


Node = Scalar | Seq | Map
