"""Values laid over a policy from outside, in the places that they replace; nothing else of it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.text.nodes import Entry, Map, Node, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import parse


def overridden(root: Map, values: Mapping[PolicyPath, str]) -> Map:
    """Return ``root`` with each text in its place; one that begins with a bracket is read as YAML.

    A replaced value keeps its place in the file, a new one takes its map's. Maps that are missing on the way are made;
    a path through something that is no map changes nothing.
    """
    for path, text in values.items():
        root = _laid(root, path, text, f"its value comes from --over {'.'.join(path)}={text}")
    return root


def _laid(node: Map, path: PolicyPath, text: str, note: str) -> Map:
    head, rest = path[0], path[1:]
    entry = node.entries.get(head)
    key_span = entry.key_span if entry is not None else node.span
    if not rest:
        made: Node = _node(text, entry.node.span if entry is not None else node.span, note)
    else:
        below = entry.node if entry is not None else Map({}, node.span)
        made = _laid(below, rest, text, note) if isinstance(below, Map) else below
    return replace(node, entries={**node.entries, head: Entry(key_span, made)})


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
    return Map({k: Entry(span, _moved(e.node, span, note)) for k, e in node.entries.items()}, span)
