"""Apriori anonymization: one map over the alphabet, which makes every small combination of items frequent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.apriori_anonymization.spec import (
    AprioriAnonymizationParams,
    ItemsetTarget,
    can_roll_up,
    wanted,
)
from ppdm_flow.anonymizers.class_models.people import of_subject, subject_read
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.anonymizers.set_columns import required
from ppdm_flow.anonymizers.subject_column import people_of
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.mining.combinations import cut
from ppdm_flow.mining.combinations.apriori import NoCutError, generalized
from ppdm_flow.mining.combinations.owners import NONE, CodeTree, Owners, flat, tree_of
from ppdm_flow.mining.combinations.search import TooManyCombinationsError
from ppdm_flow.mining.hierarchies.ladder import FullHierarchy, full_hierarchy, ladder
from ppdm_flow.mining.hierarchies.ladder import labels as labels_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.sets import Baskets, stacked
from ppdm_flow.tables.table import Table

_WAYS = {
    frozenset({"roll_up"}): cut.ROLL_UP,
    frozenset({"leave_out"}): cut.LEAVE_OUT,
    frozenset({"roll_up", "leave_out"}): cut.CHEAPER,
}


class AprioriAnonymization:
    """Reads the sets, finds where every item goes, and replaces items by that."""

    def __init__(self, params: AprioriAnonymizationParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the labels of all items.

        Raises PluginError, naming the column, where it holds no plain sets, where items have no place in the
        hierarchy, where no cut keeps the requirement, and where sets are too long to count their combinations.
        """
        name = required(self.params.attribute, ctx.attributes)
        scope = Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls, people=ctx.people)
        todo, subject = wanted(self.params, name, scope), subject_read(scope)
        for problem in of_subject(scope):
            raise PluginError(Diagnostic(problem.code, problem.message, help=problem.hint))
        if todo is None:
            raise PluginError(Diagnostic("PPF780", f"nothing says in how many sets the items of `{name}` are to be"))
        column, owned = _owners(data, name, subject)
        facts = ctx.attributes[name]
        hierarchy = facts.hierarchy if can_roll_up(self.params, facts) else None
        items = item_tree(name, column.categories.to_pylist(), hierarchy, ctx.home)
        nodes = self._nodes(owned, items, todo, name)
        labels = {
            item: None if node == NONE else items.labels[node]
            for item, node in zip(column.categories.to_pylist(), nodes, strict=True)
        }
        transform = LabelTransform(name, labels, todo.k, todo.m)
        return Fitted(transform, figures=_figures(column, owned, items, np.array(nodes, np.int64), transform))

    def _nodes(self, owned: Owners, items: ItemTree, todo: ItemsetTarget, name: str) -> list[int]:
        way = cut.ROLL_UP_FIRST if self.params.by is None else _WAYS[frozenset(self.params.by)]
        try:
            nodes: list[int] = generalized(owned, items.tree, todo.k, todo.m, way).node.tolist()
        except NoCutError:
            too_few = (
                f"fewer than {todo.k:,} sets of"
                if owned.persons is None
                else f"sets of fewer than {todo.k:,} people in"
            )
            text = f"{too_few} `{name}` hold an item, so no categories keep the requirement"
            raise PluginError(Diagnostic("PPF784", text, help="ask for less, or let items be left out")) from None
        except TooManyCombinationsError:
            text = f"some sets of `{name}` are too long: their combinations of {todo.m} items cannot be counted"
            raise PluginError(Diagnostic("PPF666", text, help="shorten sets with `limit_items`")) from None
        return nodes


@dataclass(frozen=True, slots=True)
class LabelTransform(DeterministicTransform):
    """``label_of`` each item of ``attribute``, None where it is left out."""

    attribute: str
    label_of: Mapping[str, str | None]
    k: int
    m: int

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace the items. Raises PluginError for one that was not there before: nobody counted it."""
        return part.resettled({self.attribute: self.labelled(baskets(part, self.attribute))})

    def labelled(self, column: Baskets) -> Baskets:
        """Return the sets with labels in place of items."""
        used = np.flatnonzero(column.in_use())
        items = column.categories.take(pa.array(used)).to_pylist()
        strangers = sum(item not in self.label_of for item in items)
        if strangers:
            text = f"the sets of `{self.attribute}` hold {strangers} items that were not there when the step was fitted"
            raise PluginError(Diagnostic("PPF789", text))
        labels = [self.label_of[item] for item in items]
        categories = sorted({label for label in labels if label is not None}, key=str.encode)
        place = {label: i for i, label in enumerate(categories)}
        code_map = np.full(len(column.categories), -1, dtype=np.int32)
        code_map[used] = [-1 if label is None else place[label] for label in labels]
        return column.mapped(code_map, pa.array(categories, pa.string()))

    def describe(self) -> Mapping[str, Any]:
        """Return what is kept, and how many labels there are."""
        labels = {label for label in self.label_of.values() if label is not None}
        return {"attribute": self.attribute, "k": self.k, "m": self.m, "items": len(labels)}


def _owners(data: DataView, name: str, subject: tuple[str, ...]) -> tuple[Baskets, Owners]:
    """Return the sets over the items that occur, by text, and the same as owners: with weights, or of their people."""
    if subject:
        return _owned_by_people(data.table([*subject, name]), name, subject[0])
    weight = data.schema.weight
    parts, weights = [], []
    for part in data.partitions([name, *([weight] if weight else [])]):
        parts.append(baskets(part, name))
        weights.append(weights_of(part[weight]) if weight else np.ones(len(part), dtype=np.int64))
    all_sets = stacked(parts) if parts else Baskets.of([])
    if not isinstance(all_sets, Baskets):
        raise PluginError(Diagnostic("PPF573", f"the sets of `{name}` are randomized"))
    column = all_sets.compact()
    own = np.concatenate([np.zeros(0, dtype=np.int64), *weights])
    return column, Owners.of_sets(column.offsets, column.items, own, len(column.categories))


def _owned_by_people(table: Table, name: str, subject: str) -> tuple[Baskets, Owners]:
    """Return the sets, those of one person next to each other."""
    person = people_of(table, subject)
    order = np.argsort(person, kind="stable")
    column = baskets(table, name).take(order).compact()
    ones = np.ones(len(column), dtype=np.int64)
    return column, Owners.of_sets(column.offsets, column.items, ones, len(column.categories), person[order])


def _figures(
    column: Baskets, owned: Owners, items: ItemTree, nodes: npt.NDArray[np.int64], way: LabelTransform
) -> dict[str, Figure]:
    occurs = owned.occurrences()
    gone = nodes == NONE
    lost = occurs[gone].sum() * items.tree.full_price + (occurs * items.tree.price[nodes])[~gone].sum()
    after = way.labelled(column)
    rows, total = len(column), int(occurs.sum())
    note = "" if total else "no set holds an item"
    figures = {
        "ncp": Figure(float(lost / (total * items.tree.full_price)) if total else None, "share", note=note),
        "items_before": Figure(len(column.categories), "items"),
        "items_after": Figure(len(after.categories), "items"),
        "left_out": Figure(int(gone.sum()), "items"),
        "left_out_occurrences": Figure(int(occurs[gone].sum()), "items"),
        "emptied": Figure(int(((after.sizes == 0) & (column.sizes > 0)).sum()), "rows"),
    }
    if rows:
        figures["mean_size_before"] = Figure(len(column.items) / rows, "items")
        figures["mean_size_after"] = Figure(len(after.items) / rows, "items")
    return figures


# The items of a column as a tree: below their categories, or each by itself.


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
    full_price = values[root] if labels else 0
    leaf_nodes = []
    for item in items:
        node = own.get(item, root)  # above what is one label for all, every label is
        if (0, item) not in nodes:  # a category: its own code, below it
            labels.append(item)
            parents.append(node)
            values.append(values[node])
            node = len(labels) - 1
        leaf_nodes.append(node)
    return ItemTree(tree_of(parents, leaf_nodes, values, full_price), tuple(labels))
