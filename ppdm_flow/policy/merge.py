"""The one merge rule: maps deep, texts and lists replace, ``null`` deletes."""

from __future__ import annotations

from collections.abc import Callable

from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.nodes import Entry, Map, Node, Scalar, Seq


def merge(base: Map, over: Map) -> Map:
    """Return ``base`` with ``over`` laid over it.

    A ``null`` that has nothing to delete stays, so that :func:`without_nulls` can report it.
    """
    entries = dict(base.entries)
    for key, entry in over.entries.items():
        below = entries.get(key)
        if below is None:
            entries[key] = entry
        elif is_null(entry.node):
            del entries[key]
        elif isinstance(below.node, Map) and isinstance(entry.node, Map):
            entries[key] = Entry(entry.key_span, merge(below.node, entry.node), entry.plain)
        else:
            entries[key] = entry
    return Map(entries, over.span, base.partial or over.partial)


def is_null(node: Node) -> bool:
    """Whether the value is a plain ``null``, ``~`` or nothing at all."""
    return isinstance(node, Scalar) and node.text is None and not node.broken


def without_nulls(node: Map, report: Callable[[PolicyPath, Entry | Scalar], None]) -> Map:
    """Leave out every value that is null, in lists as well, and report each with its path."""
    kept = _kept(node, (), report)
    if not isinstance(kept, Map):
        raise TypeError("a map stays a map")
    return kept


def _kept(node: Node, path: PolicyPath, report: Callable[[PolicyPath, Entry | Scalar], None]) -> Node:
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
            entries[key] = Entry(entry.key_span, _kept(entry.node, below, report), entry.plain)
    return Map(entries, node.span, node.partial)
