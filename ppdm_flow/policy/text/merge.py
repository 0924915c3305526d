"""What ``null`` means where files are laid over each other: it deletes, and what is left of it deletes nothing."""

from __future__ import annotations

from collections.abc import Callable

from ppdm_flow.policy.text.nodes import Entry, Map, Node, PolicyPath, Scalar, Seq


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
