"""Lists of entries that have names, as maps by name: wherever one entry may stand, several may, each with a name."""

from __future__ import annotations

from collections.abc import Callable

from ppdm_flow.policy.text.nodes import Entry, Map, Node, Scalar, Seq

_NAME = "name"


def by_name(root: Map, section: str, several: Callable[[str], bool]) -> Map:
    """Return a policy's tree in which lists at keys of a section are maps by the names of their entries.

    ``several`` says of a key whether it may have such a list.

    A list with an entry that is no map, or has no name, or one that another has, stays a list.
    """
    entry = root.entries.get(section)
    if entry is None or not isinstance(entry.node, Map):
        return root
    node = entry.node
    entries = {}
    for key, each in node.entries.items():
        several_there = isinstance(each.node, Seq) and several(key)
        entries[key] = Entry(each.key_span, _named(each.node), each.plain) if several_there else each
    below = Map(entries, node.span, node.partial)
    return Map({**root.entries, section: Entry(entry.key_span, below, entry.plain)}, root.span, root.partial)


def _named(node: Node) -> Node:
    if not isinstance(node, Seq):
        return node
    entries: dict[str, Entry] = {}
    for item in node.items:
        name = item.get(_NAME) if isinstance(item, Map) else None
        if not isinstance(item, Map) or not isinstance(name, Scalar) or not name.text or name.text in entries:
            return node
        rest = {key: e for key, e in item.entries.items() if key != _NAME}
        entries[name.text] = Entry(name.span, Map(rest, item.span, item.partial))
    return Map(entries, node.span)
