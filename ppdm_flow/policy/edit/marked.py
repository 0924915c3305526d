"""A policy's text as a tree of nodes with their start and end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from ppdm_flow.policy.text.parse import shield

_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SPACE = re.compile(r"\s+\Z")
_KEEPS = re.compile(r"[|>][0-9]?\+")


@dataclass(frozen=True, slots=True)
class MarkedValue:
    """A value from ``start`` to ``end``, offsets in the text; what follows it on its last line is not part of it.

    ``anchored``: it has an anchor or is an alias; ``shared``: it, or a value in it. A scalar's ``style`` is its quote,
    ``|`` or ``>``, empty where it is plain.
    """

    start: int
    end: int
    flow: bool = False
    anchored: bool = False
    shared: bool = False
    style: str = ""


@dataclass(frozen=True, slots=True)
class MarkedEntry:
    """A key and its value. ``name`` is the key's text."""

    name: str
    key: MarkedValue
    value: MarkedValue

    @property
    def end(self) -> int:
        """Where the entry ends."""
        return max(self.key.end, self.value.end)


@dataclass(frozen=True, slots=True)
class MarkedMap(MarkedValue):
    """A map, its entries in order."""

    entries: tuple[MarkedEntry, ...] = ()

    def place_of(self, name: str) -> int:
        """Return the place of a key that it has."""
        return next(i for i, entry in enumerate(self.entries) if entry.name == name)


@dataclass(frozen=True, slots=True)
class MarkedSeq(MarkedValue):
    """A list."""

    items: tuple[MarkedValue, ...] = ()


def marked(text: str) -> MarkedValue | None:
    """Return the tree of a text that `parse` reads without a fault; None where it holds nothing."""
    parser = _Parser(shield(text)[0])
    try:
        for expected in (yaml.StreamStartEvent, yaml.DocumentStartEvent):
            if not isinstance(parser.get_event(), expected):
                return None
        return _node(parser, parser.get_event(), text)
    finally:
        parser.dispose()


def _node(parser: Any, event: Any, text: str) -> MarkedValue:
    start, end, anchored = event.start_mark.index, event.end_mark.index, event.anchor is not None
    if isinstance(event, yaml.AliasEvent):
        return MarkedValue(start, end, anchored=True, shared=True)
    if isinstance(event, yaml.ScalarEvent):
        return MarkedValue(
            start, _end_of_scalar(event, text), anchored=anchored, shared=anchored, style=event.style or ""
        )
    flow = bool(event.flow_style)
    if isinstance(event, yaml.SequenceStartEvent):
        items, close = [], parser.get_event()
        while not isinstance(close, yaml.SequenceEndEvent):
            items.append(_node(parser, close, text))
            close = parser.get_event()
        shared = anchored or any(item.shared for item in items)
        return MarkedSeq(start, _end(items, close, flow=flow), flow, anchored, shared, items=tuple(items))
    entries, close = [], parser.get_event()
    while not isinstance(close, yaml.MappingEndEvent):
        name = _node(parser, close, text)
        value = _node(parser, parser.get_event(), text)
        entries.append(MarkedEntry(getattr(close, "value", ""), name, value))
        close = parser.get_event()
    shared = anchored or any(entry.value.shared or entry.key.shared for entry in entries)
    return MarkedMap(start, _end(entries, close, flow=flow), flow, anchored, shared, entries=tuple(entries))


def _end(parts: list[Any], close: Any, *, flow: bool) -> int:
    """Return where a collection ends: the parser closes a block only where the next thing begins."""
    last: int = close.end_mark.index if flow or not parts else parts[-1].end
    return last


def _end_of_scalar(event: Any, text: str) -> int:
    """Return where a scalar ends: the parser takes empty lines behind a block of text with it."""
    start, end = event.start_mark.index, event.end_mark.index
    if event.style not in ("|", ">") or _KEEPS.match(text, start):
        return int(end)
    space = _SPACE.search(text, start, end)
    return int(end) if space is None else space.start()
