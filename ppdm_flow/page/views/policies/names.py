"""The names that a policy has for things, which an editor offers where they may stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.api.drafts.check import DraftCheck

_KINDS = ("attributes", "steps", "releases", "params", "audits")


def names_in(checked: DraftCheck) -> dict[str, list[str]]:
    """Return the names of attributes, steps, releases, params and audits, with those that templates bring."""
    tree: Mapping[str, Any] = {} if checked.loaded is None else checked.loaded.tree
    found = {kind: _keys(tree.get(kind)) for kind in _KINDS}
    tables = tree.get("tables")
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        found["attributes"] += [f"{name}.{each}" for each in _keys(_entry(table, "attributes"))]
    if checked.loaded is not None:
        found["params"] += [each.name for each in checked.loaded.params]
    return {kind: list(dict.fromkeys(names)) for kind, names in found.items()}


def _keys(node: object) -> list[str]:
    return [str(key) for key in node] if isinstance(node, Mapping) else []


def _entry(node: object, key: str) -> object:
    return node.get(key) if isinstance(node, Mapping) else None
