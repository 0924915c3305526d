"""Turns located nodes into a plain tree of text and the places of its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq


@dataclass(slots=True)
class FlatPolicy:
    """``tree`` holds maps, lists and text; ``scalars`` the nodes that its texts came from.

    ``gone`` are the paths of values that had to be left out, ``partial`` those of maps that lack entries: their fault
    is reported.
    """

    tree: Any = None
    keys: dict[PolicyPath, Span] = field(default_factory=dict)
    values: dict[PolicyPath, Span] = field(default_factory=dict)
    scalars: dict[PolicyPath, Scalar] = field(default_factory=dict)
    quoted_keys: set[PolicyPath] = field(default_factory=set)
    gone: set[PolicyPath] = field(default_factory=set)
    partial: set[PolicyPath] = field(default_factory=set)

    @property
    def places(self) -> ResolvedPlaces:
        """Where everything stands."""
        return ResolvedPlaces(self.keys, self.values)

    def broken(self, path: PolicyPath) -> bool:
        """Whether the fault of the value at ``path`` is already reported."""
        node = self.scalars.get(path)
        return path in self.gone or (node is not None and node.broken)

    def lost_below(self, path: PolicyPath) -> bool:
        """Whether something in the list or map at ``path`` had to be left out."""
        return path in self.partial or any(p[: len(path)] == path for p in self.gone)

    def broken_here(self, path: PolicyPath) -> bool:
        """Whether that holds for the value at ``path``, or for one that it stands in."""
        return any(self.broken(path[:length]) for length in range(len(path) + 1))


def flatten(node: Node) -> FlatPolicy:
    """Return the plain tree of a node."""
    flat = FlatPolicy()
    flat.tree = _walk(node, (), flat)
    return flat


def _walk(node: Node, path: PolicyPath, flat: FlatPolicy) -> Any:
    flat.values[path] = node.span
    if isinstance(node, Scalar):
        flat.scalars[path] = node
        return node.text
    if isinstance(node, Seq):
        return [_walk(item, (*path, str(i)), flat) for i, item in enumerate(node.items)]
    return _walk_map(node, path, flat)


def _walk_map(node: Map, path: PolicyPath, flat: FlatPolicy) -> dict[str, Any]:
    tree = {}
    if node.partial:
        flat.partial.add(path)
    for key, entry in node.entries.items():
        below = (*path, key)
        flat.keys[below] = entry.key_span
        if not entry.plain:
            flat.quoted_keys.add(below)
        tree[key] = _walk(entry.node, below, flat)
    return tree
