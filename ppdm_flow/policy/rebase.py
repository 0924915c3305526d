"""Paths in an inherited file are meant from that file's folder; the policy's own paths from the policy's."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ppdm_flow.policy.nodes import Entry, Map, Node, Scalar
from ppdm_flow.policy.references import Found

PATHS = (
    ("source", "path"),
    ("attributes", "*", "hierarchy", "csv"),
    ("privacy", "k_map", "population", "path"),
    ("ledger", "path"),
    ("ledger", "key"),
)
"""Where the language has a path of a file that is read."""


def rebased(node: Map, here: Found, root: Path) -> Map:
    """Return the tree of the file ``here`` with its relative paths written from the folder of ``root``."""
    home, folder = os.path.abspath(root.parent), os.path.abspath(here.path.parent)  # noqa: PTH100  (keeps symlinks)
    if home == folder:
        return node
    changed: Node = node
    for pattern in PATHS:
        changed = _at(changed, pattern, os.path.relpath(folder, home))
    return changed if isinstance(changed, Map) else node


def _at(node: Node, pattern: tuple[str, ...], way: str) -> Node:
    if not pattern:
        return _moved(node, way)
    if not isinstance(node, Map):
        return node
    keys = list(node.entries) if pattern[0] == "*" else [k for k in node.entries if k == pattern[0]]
    if not keys:
        return node
    entries = dict(node.entries)
    for key in keys:
        entry = entries[key]
        entries[key] = Entry(entry.key_span, _at(entry.node, pattern[1:], way), entry.plain)
    return Map(entries, node.span, node.partial)


def _moved(node: Node, way: str) -> Node:
    if not isinstance(node, Scalar) or not node.text or os.path.isabs(node.text):  # noqa: PTH117  (text, not a Path)
        return node
    return replace(node, text=os.path.normpath(os.path.join(way, node.text)))  # noqa: PTH118  (text, not a Path)
