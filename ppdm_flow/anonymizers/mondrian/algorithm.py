"""Mondrian: a partition of the distinct rows, or of the rows themselves where equal ones may be divided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.class_models.required import (
    ReadRowsOfModels,
    RequiredModels,
    by_person,
    by_row_or_value,
    people_of_items,
)
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.mondrian.bounds import CutInterval, cells_of_hierarchy, cells_of_moments, cells_of_numbers
from ppdm_flow.anonymizers.mondrian.spec import EVERY, IntervalEnds, MondrianParams, todo_of
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import AttributeType, Nulls
from ppdm_flow.mining.class_people.seen import ClassPeople, PersonalClasses, sizes
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import decimals
from ppdm_flow.mining.hierarchies.ladder import ANYTHING, FullHierarchy, full_hierarchy
from ppdm_flow.mining.local_recoding.kernels import edges, partition_sizes, walked
from ppdm_flow.mining.local_recoding.partition import SplitOptions, WeightedItems, partition
from ppdm_flow.mining.local_recoding.scales import OrderedScale, RecodedForm, flat
from ppdm_flow.mining.local_recoding.tree import Partition, nothing_cut
from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class ClassFinder(Protocol):
    """Finds the class of a row."""

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


# An attribute's values in the order in which a partition may cut them, and the labels of every class.


@dataclass(frozen=True, slots=True, eq=False)
class ScaledValues:
    """``texts`` have ``codes`` in ``scale``; ``marks`` (-1 missing, -2 suppressed) the codes after its values.

    ``joined``: missing cells become suppressed ones. ``shown`` is one text for each code, ``levels`` the labels above
    each, level by level, where they come from a hierarchy. ``ends`` (values,) are the two bounds of each where values
    are cells of a grid, None for an open one, and ``widths`` how much of the attribute's range each cell takes.
    """

    name: str
    texts: tuple[str, ...]
    codes: Codes
    scale: OrderedScale
    shown: tuple[str, ...]
    marks: tuple[int, ...] = ()
    joined: bool = False
    levels: tuple[tuple[str, ...], ...] = ()
    ends: tuple[tuple[str | None, str | None], ...] = ()
    widths: npt.NDArray[np.float64] | None = None

    def coded(self, column: Column, step: str) -> Codes:
        """Return the code of each cell. Raises PluginError for a value that the fit did not see."""
        place = pc.index_in(column.categories, value_set=pa.array(self.texts, pa.string()))
        at = place.fill_null(-1).to_numpy(zero_copy_only=False)
        table = np.full(len(at) + SPECIALS, -1, dtype=np.int32)
        table[SPECIALS:][at >= 0] = self.codes[at[at >= 0]]
        for i, mark in enumerate(self.marks):
            table[mark + SPECIALS] = self.scale.size + i
        if self.joined:
            table[MISSING + SPECIALS] = table[SUPPRESSED + SPECIALS]
        codes = table[column.dense]
        if (codes < 0).any():
            text = f"step `{step}` meets values in the column `{self.name}` that it did not see when it was fitted"
            raise PluginError(Diagnostic("PPF789", text))
        return codes

    def label(self, low: int, high: int, members: Sequence[int]) -> str | int:
        """Return the label of a class, or the mark that all of it has; ``members`` are needed for sets only."""
        size = self.scale.size
        if low == high:
            return self.shown[low] if low < size else self.marks[low - size]
        if high >= size:
            return self.levels[-1][0] if self.levels else ANYTHING
        if self.ends:
            return _half_open(self.ends[low][0], self.ends[high][1])
        if self.scale.form is RecodedForm.INTERVAL:
            return f"[{self.shown[low]}, {self.shown[high]}]"
        if self.scale.form is RecodedForm.SET:
            return ANYTHING if len(members) == size else f"{{{', '.join(_quoted(self.shown[m]) for m in members)}}}"
        return next(level[low] for level in self.levels if level[low] == level[high])


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
        scale = replace(values.scale, marks=len(marks), importance=self.params.importance.get(name, 1.0))
        return replace(values, marks=marks, joined=joined, scale=scale)

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


def _half_open(begin: str | None, end: str | None) -> str:
    """Write an interval without its end; one that is open on both sides is everything."""
    if begin is None:
        return ANYTHING if end is None else f"< {end}"
    return f">= {begin}" if end is None else f"[{begin}, {end})"


def _quoted(text: str) -> str:
    """Quote a value that would otherwise be read as several."""
    return f'"{text}"' if any(mark in text for mark in ',{}"') else text


def sets(name: str, texts: Sequence[str]) -> ScaledValues:
    """Return values that become sets, sorted."""
    codes = np.arange(len(texts), dtype=np.int32)
    return ScaledValues(name, tuple(texts), codes, OrderedScale(RecodedForm.SET, len(texts)), tuple(texts))


def intervals(name: str, texts: Sequence[str], *, dates: bool) -> ScaledValues:
    """Return numbers or dates that become intervals; spellings of one number are one value. Raises PluginError."""
    try:
        numbers = _dates(texts) if dates else decimals(texts)
    except UnplacedError as fault:
        raise _unplaced(name, len(texts), fault) from None
    ordered = sorted(set(numbers))
    place = {number: i for i, number in enumerate(ordered)}
    codes = np.array([place[n] for n in numbers], dtype=np.int32)
    shown = dict(zip(reversed(codes.tolist()), reversed(texts), strict=True))
    reach = (ordered[-1] - ordered[0]) or Decimal(1) if ordered else Decimal(1)
    position = np.array([float((n - ordered[0]) / reach) for n in ordered])
    scale = OrderedScale(RecodedForm.INTERVAL, len(ordered), position=position)
    return ScaledValues(name, tuple(texts), codes, scale, tuple(shown[i] for i in range(len(ordered))))


def on_grid(name: str, texts: Sequence[str], cells: Callable[[Sequence[str]], list[CutInterval]]) -> ScaledValues:
    """Return numbers or dates that become intervals between the bounds of cells. Raises PluginError."""
    try:
        own = cells(texts)
    except UnplacedError as fault:
        raise _unplaced(name, len(texts), fault) from None
    ordered = sorted(set(own), key=lambda cell: (cell.low, cell.high))
    place = {cell: i for i, cell in enumerate(ordered)}
    codes = np.array([place[cell] for cell in own], dtype=np.int32)
    reach = (ordered[-1].high - ordered[0].low) or Decimal(1) if ordered else Decimal(1)
    position = np.array([float((cell.low - ordered[0].low) / reach) for cell in ordered])
    widths = np.array([float((cell.high - cell.low) / reach) for cell in ordered])
    ends = tuple((cell.begin, cell.end) for cell in ordered)
    shown = tuple(cell.alone or _half_open(cell.begin, cell.end) for cell in ordered)
    scale = OrderedScale(RecodedForm.INTERVAL, len(ordered), position=position)
    return ScaledValues(name, tuple(texts), codes, scale, shown, ends=ends, widths=widths)


def _unplaced(name: str, values: int, fault: UnplacedError) -> PluginError:
    text = f"{fault.values} of {values} distinct values of the column `{name}` {fault.what}"
    return PluginError(Diagnostic(fault.code, text, help=fault.advice or None))


def _dates(texts: Sequence[str]) -> list[Decimal]:
    read: Callable[[str], datetime] = datetime.fromisoformat
    try:
        days = [read(t) for t in texts]
        return [Decimal((d if d.tzinfo else d.replace(tzinfo=UTC)).timestamp()) for d in days]
    except (ValueError, OverflowError):
        raise UnplacedError("PPF786", len(texts), "are not all dates in ISO 8601 form") from None


def ancestors(name: str, tree: FullHierarchy) -> ScaledValues:
    """Return values that become ancestors, those below one label side by side. Raises PluginError for no tree."""
    codes = [np.unique(np.asarray(level, dtype=object).astype(str), return_inverse=True)[1] for level in tree.levels]
    order = np.lexsort(codes) if codes else np.zeros(0, dtype=np.intp)
    maps = np.stack([c[order] for c in codes]).astype(np.int64)
    maps[0] = np.arange(len(order))
    for below, above in pairwise(maps):
        if len(np.unique(np.stack([below, above]), axis=1).T) != len(np.unique(below)):
            text = f"the hierarchy of `{name}` puts values together on one level and apart on the next"
            raise PluginError(Diagnostic("PPF788", text))
    levels = tuple(tuple(np.asarray(level, dtype=object)[order].tolist()) for level in tree.levels)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    scale = OrderedScale(RecodedForm.ANCESTOR, len(order), maps=maps, prices=_prices(tree, maps, order))
    return ScaledValues(name, tree.leaves, place, scale, levels[0], levels=levels)


def _prices(tree: FullHierarchy, maps: npt.NDArray[np.int64], order: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return (values covered - 1) / (values - 1) of the label above each leaf."""
    covered = [np.bincount(m)[m] for m in maps]
    if tree.spans:
        covered = [np.asarray(s, dtype=np.int64)[order] for s in tree.spans]
    every = max(2, int(covered[-1].max(initial=0)))
    return np.stack([(c - 1) / (every - 1) for c in covered]).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class ClassLabels:
    """The labels of every class: one column of texts and marks for each attribute.

    ``columns`` (one for each attribute, of a cell a class), ``sizes`` (classes,) records, ``costs`` of each cell,
    ``low`` and ``high`` (classes, attributes) the least and the greatest code.
    """

    columns: tuple[Column, ...]
    sizes: Ints
    costs: npt.NDArray[np.float64]
    low: Codes
    high: Codes


def labelled(items: WeightedItems, parts: Partition, values: tuple[ScaledValues, ...]) -> ClassLabels:
    """Label the classes. Raises PluginError where a label is spelled like a value that the column has."""
    low, high, costs = edges(items.codes, parts.order, parts.begins, parts.ends, flat(items.scales))
    classes = parts.classes
    columns = []
    for j, own in enumerate(values):
        members = _members(classes, items.codes[:, j], len(parts), own)
        columns.append(_column(own, low[:, j], high[:, j], members))
        if own.widths is not None:
            plain = high[:, j] < own.scale.size
            costs[plain, j] += own.widths[high[plain, j]]
    sizes = partition_sizes(items.weights, parts.order, parts.begins, parts.ends)
    return ClassLabels(tuple(columns), sizes, costs, low, high)


def _members(classes: Ints, codes: Codes, size: int, own: ScaledValues) -> list[tuple[int, ...]]:
    """Return the values of each class, where sets are asked for."""
    if own.scale.form is not RecodedForm.SET:
        return [()] * size
    pairs = np.unique(classes * own.scale.width + codes)
    owner, code = np.divmod(pairs, max(1, own.scale.width))
    parts = np.split(code, np.searchsorted(owner, np.arange(1, size)))
    return [tuple(p.tolist()) for p in parts] if size else []


def _column(own: ScaledValues, low: Codes, high: Codes, members: list[tuple[int, ...]]) -> Column:
    place: dict[str, int] = {}
    known: dict[tuple[int, int, tuple[int, ...]], int] = {}
    codes = np.empty(len(low), dtype=np.int32)
    for i, key in enumerate(zip(low.tolist(), high.tolist(), members, strict=True)):
        if key not in known:
            label = own.label(*key)
            known[key] = label if isinstance(label, int) else place.setdefault(label, len(place))
        codes[i] = known[key]
    if not own.levels:
        _refuse_lies(own, {k: c for k, c in known.items() if k[0] != k[1]}, place)
    return Column(codes, pa.array(list(place), pa.string())).compact()


def _refuse_lies(own: ScaledValues, known: dict[tuple[int, int, tuple[int, ...]], int], place: dict[str, int]) -> None:
    """A label of several values must not be spelled like one of them; hierarchies have been looked at before."""
    names = list(place)
    lies = len({names[c] for c in known.values()} & set(own.texts))
    if lies:
        text = f"{lies} labels of the column `{own.name}` would be spelled like one of its values"
        raise PluginError(Diagnostic("PPF788", text, help="give the attribute a hierarchy"))


# Mondrian where people count: what the labels of classes say of people.


def broken_classes(
    people: ClassPeople, parts: Partition, labels: ClassLabels, names: Sequence[str], models: RequiredModels
) -> list[Ints]:
    """Return the parts of each class that breaks a requirement: parts with equal labels are one class.

    A requirement over some of the attributes has fewer classes, of the labels of these.
    """
    of_item = parts.classes
    broken = []
    for grouping, every in models.by_requirement:
        others = [m for m in every if not isinstance(m, KAnonymous)]  # k people of one class are k of a larger one too
        if not others:
            continue
        ids = numbered(labels, [i for i, name in enumerate(names) if name in grouping])
        classes = PersonalClasses.of(ids[of_item], int(ids.max()) + 1, people.persons)
        out = np.flatnonzero(~people.keeps(classes, others))
        order = np.argsort(ids, kind="stable")
        bounds = np.searchsorted(ids[order], np.arange(int(ids.max()) + 2))
        broken += [order[bounds[c] : bounds[c + 1]] for c in out.tolist()]
    return broken


def fewest_people(people: ClassPeople, parts: Partition, labels: ClassLabels) -> int:
    """Return the people of the smallest released class."""
    ids = numbered(labels, range(len(labels.columns)))
    classes = PersonalClasses.of(ids[parts.classes], int(ids.max()) + 1, people.persons)
    return int(sizes(people.persons, people.weights, classes.order, classes.begins, classes.ends)[0].min())


def numbered(labels: ClassLabels, columns: Sequence[int]) -> Ints:
    """Return a number from 0 for each part, equal where the labels in ``columns`` are."""
    cells = np.stack([labels.columns[j].codes for j in columns], axis=1)
    return np.unique(cells, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


# The step's results on its classes: figures, findings and pictures.


def released_sizes(classes: ClassLabels) -> Ints:
    """Return the records of each released class: parts with equal labels are one."""
    if not len(classes.sizes):
        return classes.sizes
    cells = np.stack([c.codes for c in classes.columns], axis=1)
    _, ids = np.unique(cells, axis=0, return_inverse=True)
    return np.bincount(ids.ravel(), classes.sizes).astype(np.int64)


def figures(values: Sequence[ScaledValues], classes: ClassLabels, people: int | None = None) -> dict[str, Figure]:
    """Return the certainty penalty (Xu et al., KDD 2006), as a mean over rows and attributes, and class sizes.

    ``people`` are those of the smallest class, where they count.
    """
    sizes = released_sizes(classes)
    records = int(sizes.sum())
    none = "" if records else "the table has no row"
    own = penalties(classes)
    out = {
        "ncp": Figure(float(own.mean()) if records else None, "share", note=none),
        "classes": Figure(len(sizes), "classes"),
        "smallest_class": Figure(int(sizes.min()) if records else None, "rows", note=none),
        "average_class_size": Figure(records / len(sizes) if records else None, "rows", note=none),
        "discernibility": Figure(float((sizes.astype(np.float64) ** 2).sum()), "squared rows"),
        "suppressed_rows": Figure(0, "rows"),
    }
    if people is not None:
        out["fewest_people"] = Figure(people, "people")
    return out | {
        f"{v.name}.ncp": Figure(float(p) if records else None, "share", note=none)
        for v, p in zip(values, own, strict=True)
    }


def penalties(classes: ClassLabels) -> npt.NDArray[np.float64]:
    """Return the certainty penalty of each attribute, averaged over records."""
    out: npt.NDArray[np.float64] = classes.sizes @ classes.costs / max(1, classes.sizes.sum())
    return out


def findings(step: str, values: Sequence[ScaledValues]) -> tuple[Finding, ...]:
    """Say where missing cells became suppressed ones."""
    joined = [f"`{v.name}`" for v in values if v.joined]
    if not joined:
        return ()
    return (Finding("PPF739", Severity.WARNING, f"`{step}` suppressed the missing cells of {', '.join(joined)}", step),)


def sharp_ends(
    step: str, items: WeightedItems, values: Sequence[ScaledValues], classes: ClassLabels, k: int
) -> tuple[Finding, ...]:
    """Say where intervals end at values that fewer than ``k`` rows, or people where people count, have."""
    columns = []
    for j, own in enumerate(values):
        if own.scale.form is not RecodedForm.INTERVAL or own.ends or not len(classes.sizes):
            continue
        low, high = classes.low[:, j], classes.high[:, j]
        wide = (low < high) & (high < own.scale.size)
        ends = np.unique(np.concatenate([low[wide], high[wide]]))
        if few := int((_holders(items, j, own.scale.width)[ends] < k).sum()):
            columns.append(f"{few:,} of `{own.name}`")
    if not columns:
        return ()
    text = (
        f"intervals that `{step}` wrote end at values which fewer than {k} people have: {', '.join(columns)}. A reader"
        " knows that somebody has such a value; `labels: {round: …}` or `{significant: …}` ends intervals at round"
        " numbers"
    )
    return (Finding("PPF946", Severity.WARNING, text, step),)


def _holders(items: WeightedItems, attribute: int, width: int) -> Ints:
    """Return how many rows, or people where people count, have each code."""
    codes = items.codes[:, attribute].astype(np.int64)
    if items.people is None:
        return np.bincount(codes, items.weights, width).astype(np.int64)
    pairs = np.unique(np.stack([codes, items.persons]), axis=1)
    return np.bincount(pairs[0], minlength=width).astype(np.int64)


def charts(step: str, values: Sequence[ScaledValues], classes: ClassLabels) -> tuple[Chart, ...]:
    """Show what each attribute lost, and how large the classes are."""
    if not classes.sizes.sum():
        return ()
    sizes = released_sizes(classes)
    ends = 2 ** np.arange(int(np.log2(sizes.max())) + 2)
    rows = np.histogram(sizes, ends, weights=sizes)[0]
    kept = np.flatnonzero(rows)
    return (
        Chart(
            id="certainty_penalty",
            title=f"Step {step}: what each attribute lost",
            kind="bars",
            x=tuple(v.name for v in values),
            series=(FigureSeries("certainty penalty", tuple(penalties(classes).tolist())),),
            y_label="share of the attribute's range",
        ),
        Chart(
            id="class_sizes",
            title=f"Step {step}: rows in classes of each size",
            kind="bars",
            x=tuple(f"{ends[i]} to {ends[i + 1] - 1}" for i in kept),
            series=(FigureSeries("rows", tuple(rows[kept].astype(float).tolist())),),
            x_label="rows of the class",
            y_label="rows",
        ),
    )
