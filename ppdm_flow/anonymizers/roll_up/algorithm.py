"""Roll up: one map over the alphabet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.anonymizers.roll_up.spec import RollUpParams
from ppdm_flow.anonymizers.set_columns import required
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.mining.hierarchies.ladder import LabelLookup, Lines, at_level, read_csv
from ppdm_flow.mining.hierarchies.ladder import labels as labels_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import union
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table


class RollUp:
    """Replaces each item by its category; a category that several items of a set have is there once."""

    def __init__(self, params: RollUpParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Make the map and try it on every item. Raises PluginError, naming the column."""
        name = required(self.params.attribute, ctx.attributes)
        way = self._way(name, ctx)
        alphabet, rows, items = union([]), 0, 0
        for part in data.partitions([name]):
            column = baskets(part, name)
            alphabet = union([alphabet, column.compact().categories])
            rows, items = rows + len(column), items + len(column.items)
        known = alphabet.to_pylist()
        labels = labels_of(name, known, way)
        _refuse_lies(name, dict(zip(known, labels, strict=True)))
        figures = {
            "items_before": Figure(len(known), "items"),
            "items_after": Figure(len(set(labels)), "items"),
        }
        if rows:
            figures["mean_size_before"] = Figure(items / rows, "items")
        return Fitted(RollUpTransform(name, way), figures=figures)

    def _way(self, name: str, ctx: StepContext) -> LabelLookup:
        own = ctx.attributes[name].hierarchy
        level = self.params.target(ctx.attributes[name])
        if self.params.hierarchy is not None:
            lines: Lines = read_csv(ctx.home / self.params.hierarchy, self.params.delimiter, name)
        elif own is not None and own.csv is not None:
            lines = read_csv(ctx.home / own.csv, own.delimiter, name)
        elif own is not None and own.levels is not None:
            lines = dict(own.levels)
        else:
            raise PluginError(Diagnostic("PPF780", f"`{name}` has no hierarchy of items"))
        return _from_below(lines, at_level(lines, level, name), level)


@dataclass(frozen=True, slots=True)
class RollUpTransform(DeterministicTransform):
    """``way`` says the category of each item of ``attribute``."""

    attribute: str
    way: LabelLookup

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace items by categories. Raises PluginError for an item without one."""
        return part.resettled({self.attribute: self._rolled(baskets(part, self.attribute))})

    def describe(self) -> Mapping[str, Any]:
        """Name the level."""
        return {"attribute": self.attribute, "way": self.way.describe()}

    def _rolled(self, column: Baskets) -> Baskets:
        used = np.flatnonzero(column.in_use())
        labels = labels_of(self.attribute, column.categories.take(pa.array(used)).to_pylist(), self.way)
        categories = sorted(set(labels), key=str.encode)
        place = {label: i for i, label in enumerate(categories)}
        code_map = np.full(len(column.categories), -1, dtype=np.int32)
        code_map[used] = [place[label] for label in labels]
        return column.mapped(code_map, pa.array(categories, pa.string()))


def _from_below(lines: Lines, way: LabelLookup, level: int) -> LabelLookup:
    """Let the map also take what stands between the items and its level: sets that were rolled up before."""
    label_of = dict(way.label_of)
    for value, ancestors in lines.items():
        for label in ancestors[: level - 1]:
            label_of.setdefault(label, way.label_of[value])
    return LabelLookup(label_of, level)


def _refuse_lies(name: str, labels: Mapping[str, str]) -> None:
    """Raise PluginError for categories that are items themselves, in another category: bread for milk, milk for tea."""
    lies = sum(labels.get(label, label) != label for label in set(labels.values()))
    if lies:
        text = f"{lies} categories of `{name}` are spelled like one of its items, which is in another category"
        raise PluginError(Diagnostic("PPF788", text, help="a category covers all items below it"))
