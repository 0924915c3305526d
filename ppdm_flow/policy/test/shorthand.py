"""Short forms of a test file written out, so that each value stands where its model has it.

``data: |…`` is ``data: {text: …}``, a list of rows ``{rows: […]}``; a bare figure is ``{equals: …}``, a list of names
``{exactly: […]}``, a list of suppressed values ``{somewhere: […]}``; one name stands for a list of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.advice import empty_hint
from ppdm_flow.policy.language.shape import FixedKeys, ListOf, MapOf, Shape
from ppdm_flow.policy.language.words import place_name, short
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.test.models import ExpectedFigure, ExpectedNames, ExpectedSuppression, PolicyTestTable
from ppdm_flow.policy.text.merge import is_null
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, Scalar, Seq

SHORT: Mapping[Any, Mapping[type[Node], str]] = {
    PolicyTestTable: {Scalar: "text", Seq: "rows"},
    ExpectedFigure: {Scalar: "equals"},
    ExpectedNames: {Seq: "exactly", Scalar: "exactly"},
    ExpectedSuppression: {Seq: "somewhere", Scalar: "somewhere"},
}
"""The key that a value of another kind than a map stands for."""


class ShorthandExpander:
    """Writes one file out; ``diagnostics`` are the keys and items without a value, which are left out."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def out(self, node: Map, shape: FixedKeys) -> Map:
        """Return the file in long form."""
        return self._map(node, shape, ())

    def _node(self, node: Node, shape: Shape | None, path: PolicyPath) -> Node:
        if isinstance(shape, FixedKeys):
            key = SHORT.get(shape.model, {}).get(type(node))
            if key is not None:
                node = Map({key: MappingEntry(node.span, _listed(node, shape.keys[key].shape))}, node.span)
        if isinstance(node, Map):
            return self._map(node, shape, path)
        return self._list(node, path) if isinstance(node, Seq) else node

    def _map(self, node: Map, shape: Shape | None, path: PolicyPath) -> Map:
        entries: dict[str, MappingEntry] = {}
        partial = node.partial
        for key, entry in node.entries.items():
            below = (*path, key)
            if is_null(entry.node):
                message = f"`{short(key)}` of {place_name(path) if path else 'the file'} has no value"
                self.diagnostics.append(Diagnostic("PPF210", message, entry.key_span, hint=empty_hint(below)))
                partial = True
            elif _is_rows(shape, key):
                entries[key] = entry  # an empty cell is a missing value there
            else:
                inner = self._node(entry.node, _below(shape, key), below)
                entries[key] = MappingEntry(entry.key_span, inner, entry.plain)
        return Map(entries, node.span, partial)

    def _list(self, node: Seq, path: PolicyPath) -> Seq:
        items = []
        for number, item in enumerate(node.items):
            if is_null(item):
                message = f"item {number + 1} of `{short(path[-1])}` is empty"
                hint = 'write "" for the empty text, or "null" for that word'
                self.diagnostics.append(Diagnostic("PPF210", message, item.span, hint=hint))
            else:
                items.append(self._node(item, None, (*path, str(number))))
        return Seq(tuple(items), node.span)


def _listed(node: Node, shape: Shape) -> Node:
    """Take one name for a list of one."""
    return Seq((node,), node.span) if isinstance(node, Scalar) and isinstance(shape, ListOf) else node


def _is_rows(shape: Shape | None, key: str) -> bool:
    return isinstance(shape, FixedKeys) and shape.model is PolicyTestTable and key == "rows"


def _below(shape: Shape | None, key: str) -> Shape | None:
    if isinstance(shape, FixedKeys):
        return shape.keys[key].shape if key in shape.keys else None
    return shape.value if isinstance(shape, MapOf) else None
