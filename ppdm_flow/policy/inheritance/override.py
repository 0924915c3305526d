"""Replaces single values of a policy from outside; nothing else of it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import parse


def overridden(root: Map, values: Mapping[PolicyPath, str]) -> Map:
    """Return ``root`` with each text in its place; one that begins with a bracket is read as YAML.

    A replaced value keeps its place in the file, a new one takes its map's. Maps that are missing on the way are made;
    a path through something that is no map changes nothing.
    """
    for path, text in values.items():
        root = _laid(root, path, text, f"its value comes from --over {'.'.join(path)}={text}")
    return root


def completed(root: Map, values: Mapping[PolicyPath, Any]) -> Map:
    """Return ``root`` with maps, lists and texts that were chosen from the data in their places."""
    for path, value in values.items():
        root = _laid(root, path, value, "it was chosen from the data")
    return root


def _laid(node: Map, path: PolicyPath, value: Any, note: str) -> Map:
    head, rest = path[0], path[1:]
    entry = node.entries.get(head)
    key_span = entry.key_span if entry is not None else node.span
    if not rest:
        span = entry.node.span if entry is not None else node.span
        made = _node(value, span, note) if isinstance(value, str) else _written(value, span, note)
    else:
        below = entry.node if entry is not None else Map({}, node.span)
        made = _laid(below, rest, value, note) if isinstance(below, Map) else below
    return replace(node, entries={**node.entries, head: MappingEntry(key_span, made)})


def _written(value: Any, span: Span, note: str) -> Node:
    if isinstance(value, Mapping):
        return Map({key: MappingEntry(span, _written(each, span, note)) for key, each in value.items()}, span)
    if isinstance(value, str):
        return Scalar(value, span, plain=False, notes=(note,))
    return Seq(tuple(_written(each, span, note) for each in value), span)


def _node(text: str, span: Span, note: str) -> Node:
    if text[:1] in ("[", "{"):
        try:
            parsed, _ = parse(text, span.file)
        except UnreadableError:
            parsed = None
        if parsed is not None:
            return _moved(parsed, span, note)
    return Scalar(text, span, plain=False, notes=(note,))


def _moved(node: Node, span: Span, note: str) -> Node:
    """Put everything of a node at one place."""
    if isinstance(node, Scalar):
        return replace(node, span=span, plain=False, notes=(note,))
    if isinstance(node, Seq):
        return Seq(tuple(_moved(item, span, note) for item in node.items), span)
    return Map({k: MappingEntry(span, _moved(e.node, span, note)) for k, e in node.entries.items()}, span)
