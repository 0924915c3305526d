"""Paths in an inherited file are meant from that file's folder; the policy's own paths from the policy's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses.server import is_address
from ppdm_flow.policy.demands import EqualTo, OneOf
from ppdm_flow.policy.floor import STAR, Floor, Wanted
from ppdm_flow.policy.inheritance.references import FoundTemplate
from ppdm_flow.policy.language.kinds import kinds_among, places_below
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, PolicyPath, Scalar

PATHS = (
    ("source", "path"),
    ("source", "operator"),
    ("attributes", "*", "hierarchy", "csv"),
    ("tables", "*", "source", "path"),
    ("tables", "*", "source", "operator"),
    ("tables", "*", "attributes", "*", "hierarchy", "csv"),
    ("ledger", "path"),
    ("ledger", "key"),
    ("approvals", "signers"),
)
"""Where the language has a path of a file that is read."""

PLUGIN_FILES: Mapping[str, tuple[PolicyPath, ...]] = {
    "complementary_release": (("other",),),
    "generalize": (("attributes", "*", "hierarchy"),),
    "krimp_generator": (("code_table",),),
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


def rebased_floors(stated: Iterable[Wanted], here: FoundTemplate, root: Path) -> list[Wanted]:
    """Return the floors of the file ``here`` with the files that they demand written from the folder of ``root``."""
    home, folder = os.path.abspath(root.parent), os.path.abspath(here.path.parent)  # noqa: PTH100  (keeps symlinks)
    way = os.path.relpath(folder, home)
    return [_demanded(each, way) if isinstance(each, Floor) and home != folder else each for each in stated]


def _demanded(floor: Floor, way: str) -> Floor:
    demand = floor.demand
    for pattern in PATHS:
        below = pattern[len(floor.path) :]
        if not _leads_to(floor.path, pattern):
            continue
        if isinstance(demand, EqualTo):
            demand = EqualTo.of(_tree(demand.tree, below, way))
        elif isinstance(demand, OneOf) and not below:
            demand = OneOf(tuple(_path(text, way) for text in demand.wanted))
    return replace(floor, demand=demand)


def _leads_to(path: PolicyPath, pattern: PolicyPath) -> bool:
    """Whether the path of a floor is that of a file, or of something that a file stands in."""
    parts = zip(path, pattern, strict=False)
    return len(path) <= len(pattern) and all(STAR in (a, b) or a == b for a, b in parts)


def _tree(tree: Any, below: PolicyPath, way: str) -> Any:
    """Return a tree of text with the path at ``below`` rewritten."""
    if not below:
        return _path(tree, way) if isinstance(tree, str) else tree
    if not isinstance(tree, Mapping):
        return tree
    return {key: _tree(value, below[1:], way) if below[0] in (STAR, key) else value for key, value in tree.items()}


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
        entries[key] = MappingEntry(entry.key_span, _at(entry.node, pattern[1:], way), entry.plain)
    return Map(entries, node.span, node.partial)


def _moved(node: Node, way: str) -> Node:
    return replace(node, text=_path(node.text, way)) if isinstance(node, Scalar) and node.text else node


def _path(text: str, way: str) -> str:
    if is_address(text) or os.path.isabs(text):  # noqa: PTH117  (text, not a Path)
        return text
    return os.path.normpath(os.path.join(way, text))  # noqa: PTH118  (text, not a Path)
