"""The items of a column as a tree: below their categories, or each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.combinations.tree import NONE, CodeTree, flat, tree_of
from ppdm_flow.mining.hierarchies.full_hierarchy import FullHierarchy, full_hierarchy
from ppdm_flow.mining.hierarchies.ladder import labels as labels_of
from ppdm_flow.mining.hierarchies.ladder import ladder


@dataclass(frozen=True, slots=True)
class ItemTree:
    """``labels`` are the texts of the tree's nodes. Its codes are the items in the order in which they were given."""

    tree: CodeTree
    labels: tuple[str, ...]


def item_tree(name: str, items: Sequence[str], own: HierarchySpec | None, home: Path) -> ItemTree:
    """Return the tree of items. An item may be a category already: then it stands below that, beside what is in it.

    Raises PluginError, naming the column, where an item has no place in the hierarchy, or a level of it divides the
    one below.
    """
    if own is None:
        return ItemTree(flat(len(items)), tuple(items))
    steps = ladder(name, own, home)
    if steps.leaves is None:
        return _tree(name, items, full_hierarchy(name, own, items, home))
    known = set(steps.leaves)
    categories = {label for rung in steps.rungs for label in labels_of(name, steps.leaves, rung)}
    inside = [i for i in items if i in known or i not in categories]
    return _tree(name, items, full_hierarchy(name, own, inside, home))


def _tree(name: str, items: Sequence[str], hierarchy: FullHierarchy) -> ItemTree:
    nodes, labels, parents, values = dict[tuple[int, str], int](), list[str](), list[int](), list[int]()
    own: dict[str, int] = {}
    for level, texts in enumerate(hierarchy.levels):
        spans = hierarchy.spans[level] if hierarchy.spans else None
        for leaf, text in enumerate(texts):
            node = nodes.setdefault((level, text), len(labels))
            if node == len(labels):
                labels.append(text)
                parents.append(NONE)
                values.append(0 if spans is None else spans[leaf])
                own.setdefault(text, node)
            values[node] += spans is None
            if level:
                below = nodes[level - 1, hierarchy.levels[level - 1][leaf]]
                if parents[below] not in (NONE, node):
                    text = f"the hierarchy of `{name}` divides a label of level {level - 1} on the next one"
                    raise PluginError(Diagnostic("PPF788", text, help="give every label one label above it"))
                parents[below] = node
    root = len(labels) - 1
    whole = values[root] if labels else 0
    leaf_nodes = []
    for item in items:
        node = own.get(item, root)  # above what is one label for all, every label is
        if (0, item) not in nodes:  # a category: its own code, below it
            labels.append(item)
            parents.append(node)
            values.append(values[node])
            node = len(labels) - 1
        leaf_nodes.append(node)
    return ItemTree(tree_of(parents, leaf_nodes, values, whole), tuple(labels))
