"""Mondrian: a partition of the distinct rows, or of the rows themselves where equal ones may be divided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.class_models.reading import ReadRowsOfModels, by_person, by_row_or_value, people_of_items
from ppdm_flow.anonymizers.class_models.required import RequiredModels
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.mondrian.account import charts, figures, findings, sharp_ends
from ppdm_flow.anonymizers.mondrian.bounds import cells_of_hierarchy, cells_of_moments, cells_of_numbers
from ppdm_flow.anonymizers.mondrian.people import broken_classes, fewest_people
from ppdm_flow.anonymizers.mondrian.spec import EVERY, IntervalEnds, MondrianParams, todo_of
from ppdm_flow.anonymizers.mondrian.values import (
    ClassLabels,
    ScaledValues,
    ancestors,
    intervals,
    labelled,
    on_grid,
    sets,
)
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Nulls
from ppdm_flow.mining.hierarchies.full_hierarchy import full_hierarchy
from ppdm_flow.mining.local_recoding.kernels import walked
from ppdm_flow.mining.local_recoding.partition import SplitOptions, WeightedItems, partition
from ppdm_flow.mining.local_recoding.tree import Partition, nothing_cut
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]


class ClassFinder(Protocol):
    """How a row finds its class."""

    def classes(self, part: Table, values: tuple[ScaledValues, ...], step: str) -> Ints:
        """Return the class of each row."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ByValues:
    """Strict partitioning: the tree of cuts."""

    cuts: Ints
    after: Ints

    def classes(self, part: Table, values: tuple[ScaledValues, ...], step: str) -> Ints:
        """Walk down the tree. Raises PluginError for values that were not seen."""
        codes = np.stack([v.coded(part[v.name], step) for v in values], axis=1)
        return walked(np.ascontiguousarray(codes), self.cuts, self.after)


@dataclass(frozen=True, slots=True, eq=False)
class ByRow:
    """Relaxed partitioning: ``rows`` ascending, beside the class of each."""

    rows: Ints
    class_of: Ints

    def classes(self, part: Table, _values: tuple[ScaledValues, ...], step: str) -> Ints:
        """Look the rows up. Raises PluginError for rows that were not there."""
        at = np.searchsorted(self.rows, part.rows)
        at[at == len(self.rows)] = 0
        if len(part) and (not len(self.rows) or (self.rows[at] != part.rows).any()):
            raise PluginError(Diagnostic("PPF789", f"step `{step}` meets rows that it did not see when it was fitted"))
        return self.class_of[at]


@dataclass(frozen=True, slots=True, eq=False)
class MondrianTransform(DeterministicTransform):
    """``labels`` has a cell for each class, attribute by attribute as ``values``."""

    step: str
    values: tuple[ScaledValues, ...]
    way: ClassFinder
    labels: tuple[Column, ...]
    classes: int

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace the values of every row by its class's labels."""
        if not len(part):
            empty = np.zeros(0, dtype=np.int64)
            return part.replaced({v.name: c.take(empty) for v, c in zip(self.values, self.labels, strict=True)})
        classes = self.way.classes(part, self.values, self.step)
        return part.replaced({v.name: c.take(classes) for v, c in zip(self.values, self.labels, strict=True)})

    def describe(self) -> Mapping[str, Any]:
        """Return what the values become, and how many classes there are."""
        labels = {v.name: v.scale.form.name.lower() for v in self.values}
        return {"labels": labels, "parts": self.classes, "relaxed": isinstance(self.way, ByRow)}


class Mondrian:
    """Counts distinct rows once (relaxed: reads the rows), cuts them, and labels the classes."""

    def __init__(self, params: MondrianParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the classes. Raises PluginError where the whole table breaks a requirement."""
        scope = Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls, people=ctx.people)
        todo = todo_of(self.params, scope)
        require((*todo.attributes, *subject_read(scope)), data.schema.names, ctx.step)
        columns = list(dict.fromkeys((*todo.attributes, *todo.sensitive)))
        relaxed = self.params.partitioning == "relaxed"
        read = by_person(data, columns, ctx) or by_row_or_value(data, columns, by_row=relaxed)
        values = tuple(self._values(name, read.counts, ctx) for name in todo.attributes)
        models = RequiredModels(todo, read.counts, ctx)
        items = _items(read, values, models, ctx)
        classes = _parts(items, SplitOptions(models.k, self.params.cut == "gain", relaxed), models, ctx.step)
        classes, labels = _labelled(items, classes, values, models, ctx.step)
        way: ClassFinder = ByValues(classes.cuts, classes.after)
        if relaxed:
            order = np.argsort(read.rows)
            way = ByRow(read.rows[order], classes.classes[order])
        people = None if items.people is None else fewest_people(items.people, classes, labels)
        return Fitted(
            MondrianTransform(ctx.step, values, way, labels.columns, len(classes)),
            figures=figures(values, labels, people),
            findings=(*findings(ctx.step, values), *sharp_ends(ctx.step, items, values, labels, max(2, models.k))),
            charts=charts(ctx.step, values, labels),
        )

    def _values(self, name: str, counts: Counts, ctx: StepContext) -> ScaledValues:
        codes = np.unique(counts.of(name))
        texts = counts.names(name).take(pa.array(codes[codes >= 0])).to_pylist()
        values = self._plain(name, texts, ctx)
        joined = ctx.nulls is not Nulls.OWN_CATEGORY and MISSING in codes
        marks = tuple(m for m in (MISSING, SUPPRESSED) if m in codes)
        if joined:
            marks = (SUPPRESSED,)
        return replace(values, marks=marks, joined=joined, scale=replace(values.scale, marks=len(marks)))

    def _plain(self, name: str, texts: list[str], ctx: StepContext) -> ScaledValues:
        facts = ctx.attributes.get(name)
        own = facts.hierarchy if facts else None
        kind = facts.type if facts else AttributeType.TEXT
        default = "sets" if kind is AttributeType.TEXT else "intervals"
        form = self.params.labels.get(name, default if own is None else "hierarchy")
        if form == "hierarchy":
            return ancestors(name, full_hierarchy(name, own, texts, ctx.home))
        if form == "sets":
            return sets(name, texts)
        if form == "bounds" and own is not None and own.intervals is not None:
            return on_grid(name, texts, partial(cells_of_hierarchy, edges=own.intervals, open_ends=own.open_ends))
        ends = form if isinstance(form, IntervalEnds) else self.params.labels.get(EVERY)
        if not isinstance(ends, IntervalEnds):
            return intervals(name, texts, dates=kind.is_time)
        if kind.is_time:
            return on_grid(name, texts, partial(cells_of_moments, ends=ends, kind=kind))
        return on_grid(name, texts, partial(cells_of_numbers, ends=ends, integers=kind is AttributeType.INTEGER))


def _items(
    read: ReadRowsOfModels, values: tuple[ScaledValues, ...], models: RequiredModels, ctx: StepContext
) -> WeightedItems:
    counts = read.counts
    cells = [v.coded(Column(counts.of(v.name), counts.names(v.name)), ctx.step) for v in values]
    sensitive, sizes = tuple(s.codes for s in models.sensitive), tuple(s.size for s in models.sensitive)
    people = people_of_items(read, models.sensitive, ctx)
    codes = np.ascontiguousarray(np.stack(cells, axis=1))
    return WeightedItems(codes, counts.counts, tuple(v.scale for v in values), sensitive, sizes, people)


def _parts(items: WeightedItems, manner: SplitOptions, models: RequiredModels, step: str) -> Partition:
    if not len(items.weights):
        return nothing_cut(items.codes.shape[1])
    classes = partition(items, manner, models.others)
    if classes is None:
        raise _impossible(items, step)
    return classes


def _labelled(
    items: WeightedItems, classes: Partition, values: tuple[ScaledValues, ...], models: RequiredModels, step: str
) -> tuple[Partition, ClassLabels]:
    """Label the classes; where people count, take cuts back until what is released keeps everything."""
    while True:
        labels = labelled(items, classes, values)
        if items.people is None or not len(items.weights):
            return classes, labels
        broken = broken_classes(items.people, classes, labels, [v.name for v in values], models)
        if not broken:
            return classes, labels
        fewer = classes.taken_back(broken)
        if fewer is None:
            raise _impossible(items, step)
        classes = fewer


def _impossible(items: WeightedItems, step: str) -> PluginError:
    rows = items.weights.sum()
    text = f"step `{step}` cannot keep the requirements: all {rows:,} rows as one class break them"
    if items.people is not None:
        people = len(np.unique(items.persons))
        text = f"step `{step}` found no classes that keep the requirements for the {people:,} people of {rows:,} rows"
    return PluginError(Diagnostic("PPF784", text, help="ask for less, or release nothing of so few rows"))
