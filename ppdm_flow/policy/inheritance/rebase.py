"""Paths in an inherited file are meant from that file's folder; the policy's own paths from the policy's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ppdm_flow.core.addresses.server import is_address
from ppdm_flow.policy.inheritance.references import FoundTemplate
from ppdm_flow.policy.language.kinds import kinds_among, places_below
from ppdm_flow.policy.text.nodes import Entry, Map, Node, PolicyPath, Scalar

PATHS = (
    ("source", "path"),
    ("attributes", "*", "hierarchy", "csv"),
    ("tables", "*", "source", "path"),
    ("tables", "*", "attributes", "*", "hierarchy", "csv"),
    ("ledger", "path"),
    ("ledger", "key"),
    ("approvals", "signers"),
)
"""Where the language has a path of a file that is read."""

PLUGIN_FILES: Mapping[str, tuple[PolicyPath, ...]] = {
    "complementary_release": (("other",),),
    "generalize": (("attributes", "*", "hierarchy"),),
    "linkage": (("external",),),
    "pram": (("matrix_file",),),
    "pseudonymize": (("key_file",),),
    "reidentification_risk": (("population",),),
    "roll_up": (("hierarchy",),),
    "unsorted_matching": (("other",),),
}
"""Where a plugin's parameters have the paths of files: what its spec declares as ``FilePath``.

The audit of a requirement has them where an entry of that kind has them.
"""

_PLUGINS = ("steps", "audits")


def rebased(node: Map, here: FoundTemplate, root: Path, inherited: Map) -> Map:
    """Return the tree of the file ``here`` with its relative paths written from the folder of ``root``.

    ``inherited`` is what the file will be laid over: it may say which plugin a parameter belongs to.
    """
    home, folder = os.path.abspath(root.parent), os.path.abspath(here.path.parent)  # noqa: PTH100  (keeps symlinks)
    if home == folder:
        return node
    changed: Node = node
    for pattern in (*PATHS, *_of_requirements(node), *_of_plugins(node, inherited)):
        changed = _at(changed, pattern, os.path.relpath(folder, home))
    return changed if isinstance(changed, Map) else node


def _of_requirements(node: Map) -> Iterator[PolicyPath]:
    privacy = node.get("privacy")
    for spec in kinds_among(privacy.entries if isinstance(privacy, Map) else ()):
        yield from (place for file in spec.files for place in places_below(spec, file))


def _of_plugins(node: Map, inherited: Map) -> Iterator[PolicyPath]:
    """Yield the paths in the ``with:`` of steps and audits at which their plugins take a file."""
    for section in _PLUGINS:
        entries = node.get(section)
        for name in entries.entries if isinstance(entries, Map) else ():
            use = _use(node, section, name) or _use(inherited, section, name)
            files = PLUGIN_FILES.get(use) or [f for spec in kinds_among((use,)) for f in spec.files]
            yield from ((section, name, "with", *file) for file in files)


def _use(root: Map, section: str, name: str) -> str:
    node: Node | None = root
    for key in (section, name, "use"):
        node = node.get(key) if isinstance(node, Map) else None
    return node.text or "" if isinstance(node, Scalar) else ""


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
    if not isinstance(node, Scalar) or not node.text or is_address(node.text):
        return node
    if os.path.isabs(node.text):  # noqa: PTH117  (text, not a Path)
        return node
    return replace(node, text=os.path.normpath(os.path.join(way, node.text)))  # noqa: PTH118  (text, not a Path)
