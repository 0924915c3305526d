"""Microaggregation over distinct rows: each of them goes to one group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.class_models.required import by_person
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.microaggregation.spec import MicroaggregationParams, chosen, kind_of
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import decimals, written
from ppdm_flow.mining.local_recoding.groups import ItemGroups, grouped, with_people
from ppdm_flow.mining.recoding.kernels import places_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import NumericColumn, parsed, texts_of
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """``counts`` of distinct rows. Where people count, ``of_row`` (rows,) is which of them each row is.

    ``persons`` (rows,) is then whose row it is.
    """

    counts: Counts
    of_row: Ints
    persons: Ints | None = None


def _read(data: DataView, columns: list[str], ctx: StepContext) -> DistinctRows:
    read = by_person(data, columns, ctx)
    if read is None:
        return DistinctRows(data.counts(columns), np.zeros(0, dtype=np.int64))
    codes, of_row, rows = np.unique(read.counts.codes, axis=0, return_inverse=True, return_counts=True)
    counts = Counts(tuple(columns), read.counts.categories, codes, rows.astype(np.int64))
    return DistinctRows(counts, of_row.ravel().astype(np.int64), read.persons)


@dataclass(frozen=True, slots=True, eq=False)
class AveragedColumns:
    """Attributes that were grouped together, and those of ``within``, whose values chose the groups.

    ``known`` (combinations, attributes) are codes in ``texts``, those of ``within`` last. ``released`` has a column for
    each averaged attribute with a cell for each combination.
    """

    names: tuple[str, ...]
    within: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    known: Codes
    released: tuple[Column, ...]

    def columns(self, part: Table, step: str) -> dict[str, Column]:
        """Return the released columns. Raises PluginError for values that were not seen."""
        every = (*self.names, *self.within)
        codes = [_codes(part[n], t) for n, t in zip(every, self.texts, strict=True)]
        at = places_of(np.stack(codes, axis=1), self.known - _UNSEEN)
        if (at < 0).any():
            text = f"step `{step}` meets values in the column `{self.names[0]}` that it did not see when it was fitted"
            raise PluginError(Diagnostic("PPF789", text))
        return {n: c.take(at) for n, c in zip(self.names, self.released, strict=True)}


_UNSEEN = min(MISSING, SUPPRESSED) - 1


def _codes(column: Column, texts: tuple[str, ...]) -> Codes:
    """Return the place of each cell among ``texts``, marks below them, all counted from that of an unseen value."""
    place = pc.index_in(column.categories, value_set=pa.array(texts, pa.string())).fill_null(_UNSEEN)
    table = np.concatenate([place.to_numpy(zero_copy_only=False), [SUPPRESSED, MISSING]]).astype(np.int32)
    return table[column.codes] - _UNSEEN


@dataclass(frozen=True, slots=True, eq=False)
class MicroaggregationTransform(DeterministicTransform):
    """``parts`` are the attributes that were grouped together; ``slices`` how often the rows were cut before."""

    step: str
    parts: tuple[AveragedColumns, ...]
    k: int
    slices: int

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace the values."""
        changed: dict[str, Column] = {}
        for own in self.parts:
            changed |= own.columns(part, self.step)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """Return what was grouped together, and how."""
        description = {"k": self.k, "together": [list(p.names) for p in self.parts], "slices": self.slices}
        within = self.parts[0].within if self.parts else ()
        return {**description, "within": list(within)} if within else description


class Microaggregation:
    """Counts distinct rows, groups them, and says what each becomes."""

    def __init__(self, params: MicroaggregationParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the groups. Raises PluginError for cells that cannot be averaged, and for fewer rows than k."""
        scope = _scope(ctx)
        names, k = chosen(self.params, scope)
        within = tuple(dict.fromkeys(self.params.within))
        require((*names, *within, *subject_read(scope)), data.schema.names, ctx.step)
        least = k or 2
        together = [(n,) for n in names] if self.params.apart else [names]
        parts = [self._averaged(_read(data, [*part, *within], ctx), part, least, ctx) for part in together]
        losses = [loss for _, loss in parts]
        slices = max(loss.groups.slices for loss in losses)
        return Fitted(
            MicroaggregationTransform(ctx.step, tuple(a for a, _ in parts), least, slices),
            figures=figures(losses),
            findings=findings(ctx.step, slices, self.params.most),
            charts=charts(ctx.step, losses),
        )

    def _averaged(
        self, read: DistinctRows, names: tuple[str, ...], k: int, ctx: StepContext
    ) -> tuple[AveragedColumns, GroupingLoss]:
        counts, within = read.counts, read.counts.columns[len(names) :]
        _refuse_suppressed(counts, names)
        axes = [self._axes(name, counts, ctx) for name in names]
        codes = counts.codes[:, : len(names)].astype(np.int64)
        every = tuple(standardized(a.points, codes[:, j], counts.counts) for j, a in enumerate(axes))
        items = IncompleteRows(every, codes == MISSING, counts.counts, read.of_row, read.persons)
        strata, size = counts.groups(within)
        if len(counts):
            self._refuse_small_strata(items, strata, size, k, ctx)
        alone = self.params.apart and len(chosen(self.params, _scope(ctx))[0]) > 1
        patterns = patterns_of_k(items, strata, k, apart=alone)
        groups = grouped_apart(items, strata, patterns, k, self.params.most)
        released = []
        for j, (name, own) in enumerate(zip(names, axes, strict=True)):
            texts, place = self._released(own, codes[:, j], counts.counts, groups, patterns[:, j])
            released.append(_column(texts, place[groups.group], ctx.attributes.get(name)))
        known = (*(a.texts for a in axes), *(tuple(counts.names(n).to_pylist()) for n in within))
        averaged = AveragedColumns(names, within, known, counts.codes, tuple(released))
        return averaged, GroupingLoss(names, every, counts.counts, groups, items.missing, patterns & ~items.missing)

    def _refuse_small_strata(self, items: IncompleteRows, strata: Ints, size: int, k: int, ctx: StepContext) -> None:
        sizes = [items.size(np.flatnonzero(strata == stratum)) for stratum in range(size)]
        small = sum(s < k for s in sizes)
        if not small:
            return
        unit = "rows" if items.persons is None else "people"
        if self.params.within:
            text = f"{small:,} of {size:,} strata have fewer {unit} than the {k} of a group"
            help_text = "name fewer or coarser attributes in `within`, or lower `k`"
        else:
            text = f"the table has {sizes[0]:,} {unit}, a group {k}"
            help_text = "lower `k`, or release nothing of so few rows"
        text = f"step `{ctx.step}` cannot keep the requirements: {text}"
        raise PluginError(Diagnostic("PPF784", text, help=help_text))

    def _axes(self, name: str, counts: Counts, ctx: StepContext) -> AttributeAxes:
        facts = ctx.attributes.get(name)
        texts, kind = counts.names(name).to_pylist(), kind_of(facts)
        if kind == "number":
            return numbers(name, texts, integers=facts is not None and facts.type is AttributeType.INTEGER)
        if kind == "time" and facts is not None:
            return moments(texts, facts.type)
        if kind == "order" and facts is not None and facts.hierarchy is not None:
            return ranks(name, texts, facts.hierarchy.order or ())
        return indicators(name, texts)

    def _released(
        self, axes: AttributeAxes, codes: Ints, weights: Ints, groups: ItemGroups, missing: npt.NDArray[np.bool_]
    ) -> tuple[list[str], Ints]:
        """Return distinct texts, and the place among them of what each group becomes, or the mark of a missing cell."""
        way: Callable[[Ints, Ints], str] = axes.mode
        if axes.ranked:
            way = axes.mean if self.params.release == "mean" and axes.digits is not None else axes.median
        order = np.argsort(groups.group, kind="stable")
        members = np.split(order, np.searchsorted(groups.group[order], np.arange(1, groups.size)))[: groups.size]
        known = np.array([not missing[m[0]] for m in members], dtype=bool)
        by_group = [way(codes[m], weights[m]) for m, has in zip(members, known, strict=True) if has]
        texts, place = np.unique(np.asarray(by_group, dtype=object).astype(str), return_inverse=True)
        places = np.full(groups.size, MISSING, dtype=np.int64)
        places[known] = place
        return texts.tolist(), places


def _scope(ctx: StepContext) -> Scope:
    return Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls, people=ctx.people)


def _column(texts: list[str], places: Ints, facts: AttributeFacts | None) -> Column:
    """Return a column of texts, or of numbers where the attribute holds numbers."""
    if facts is None or not facts.is_numeric:
        return Column(places.astype(np.int32), pa.array(texts, pa.string()))
    values = parsed(pa.array(texts, pa.string()), facts.type).values
    return NumericColumn(np.append(values, values.dtype.type(0))[places], facts.type, places == MISSING)


def _refuse_suppressed(counts: Counts, names: Sequence[str]) -> None:
    for name in names:
        if (counts.of(name) == SUPPRESSED).any():
            text = f"the column `{name}` has suppressed cells, which cannot be averaged"
            raise PluginError(Diagnostic("PPF882", text, help="move the step before the one that suppresses"))


# What the step tells: groups, and the share of the variance that they lose.


@dataclass(frozen=True, slots=True, eq=False)
class GroupingLoss:
    """Attributes that were grouped together, with their standardized ``points``, one array (items, axes) each.

    ``missing`` and ``emptied`` (items, attributes): cells that were missing, and those that became so.
    """

    names: tuple[str, ...]
    points: tuple[Floats, ...]
    weights: npt.NDArray[np.int64]
    groups: ItemGroups
    missing: npt.NDArray[np.bool_]
    emptied: npt.NDArray[np.bool_]

    @property
    def emptied_cells(self) -> int:
        """The cells that became missing, over all rows."""
        return int(self.weights @ self.emptied.sum(axis=1))

    def sums(self, at: int) -> tuple[float, float]:
        """Return the sums of squares within groups (SSE) and in all (SST) of one attribute, around means."""
        points, group, size = self.points[at], self.groups.group, max(1, self.groups.size)
        within = total = 0.0
        kept = ~self.emptied[:, at]
        records = np.maximum(np.bincount(group, self.weights, size), 1)
        for axis in points.T:
            mean = np.bincount(group, self.weights * axis, size) / records
            within += float(self.weights @ (axis - mean[group] * kept) ** 2)
            total += float(self.weights @ axis**2)
        return within, total

    @property
    def sizes(self) -> Floats:
        """The rows of each group."""
        return np.bincount(self.groups.group, self.weights, self.groups.size).astype(np.float64)


def figures(losses: Sequence[GroupingLoss]) -> dict[str, Figure]:
    """Return SSE / SST of each attribute and of all, standardized, before means are rounded; and group sizes.

    A cell that became missing has lost its whole distance from the mean of all.
    """
    own = {name: loss.sums(at) for loss in losses for at, name in enumerate(loss.names)}
    sizes = np.concatenate([loss.sizes for loss in losses])
    within, total = (sum(pair[i] for pair in own.values()) for i in range(2))
    none = "" if len(sizes) else "the table has no row"
    figures = {
        "information_loss": _share(within, total),
        "groups": Figure(len(sizes), "groups"),
        "smallest_group": Figure(int(sizes.min()) if len(sizes) else None, "rows", note=none),
        "average_group": Figure(float(sizes.mean()) if len(sizes) else None, "rows", note=none),
        "slices": Figure(max(loss.groups.slices for loss in losses), "slices"),
    }
    if any(loss.missing.any() for loss in losses):
        figures["emptied_cells"] = Figure(sum(loss.emptied_cells for loss in losses), "cells")
    return figures | {f"{name}.information_loss": _share(*pair) for name, pair in own.items()}


def _share(within: float, total: float) -> Figure:
    if total <= 0:
        return Figure(None, "share", note="all values are equal")
    return Figure(within / total, "share")


def findings(step: str, slices: int, most: int) -> tuple[Finding, ...]:
    """Say where groups were not looked for among all rows."""
    if slices < 2:
        return ()
    text = (
        f"`{step}` cut the distinct rows into {slices} slices of at most {most:,} along their first principal axis and"
        " grouped each by itself: groups are as large as promised, others may lose less"
    )
    return (Finding("PPF883", Severity.INFO, text, step),)


def charts(step: str, losses: Sequence[GroupingLoss]) -> tuple[Chart, ...]:
    """Show what each attribute lost."""
    losses_shown = figures(losses)
    names = [n for loss in losses for n in loss.names if losses_shown[f"{n}.information_loss"].value is not None]
    if not names:
        return ()
    shares = tuple(float(losses_shown[f"{n}.information_loss"].value or 0.0) for n in names)
    return (
        Chart(
            id="information_loss",
            title=f"Step {step}: the share of the variance that groups lose",
            kind="bars",
            x=tuple(names),
            series=(FigureSeries("SSE / SST", shares),),
            y_label="share",
        ),
    )


# An attribute as coordinates, and what a group's values become.


MICROSECONDS = 1_000_000
MOST_TEXTS = 100
"""Values of a text attribute without an order: each is an axis."""
LARGEST = Decimal("1e150")


@dataclass(frozen=True, slots=True, eq=False)
class AttributeAxes:
    """``points`` (texts, axes) of each distinct value; ``ranked``: one axis, whose order is the values' own.

    ``digits`` are the decimal places of released means, None where a mean has no meaning. ``time``: the values are
    dates or timestamps, whose means are multiples of ``unit`` days or microseconds.
    """

    texts: tuple[str, ...]
    points: Floats
    ranked: bool
    digits: int | None = None
    time: AttributeType | None = None
    unit: int = 1

    def mean(self, codes: Ints, weights: Ints) -> str:
        """Return the mean of values, rounded to as many places as values have; halves go to the even digit."""
        mean = float(weights @ self.points[codes, 0] / weights.sum())
        if self.time is not None:
            rounded = np.array([round(mean / self.unit) * self.unit], dtype=np.int64)
            text: str = texts_of(rounded, self.time)[0].as_py()
            return text
        exact = Decimal(repr(mean))
        with localcontext(prec=400):  # as many digits as the largest number has
            return written(exact.quantize(Decimal(1).scaleb(-(self.digits or 0)), ROUND_HALF_EVEN))

    def median(self, codes: Ints, weights: Ints) -> str:
        """Return the lower median, a value that occurs."""
        order = np.argsort(self.points[codes, 0], kind="stable")
        reached = np.cumsum(weights[order])
        return self.texts[int(codes[order[np.searchsorted(reached, (reached[-1] + 1) // 2)]])]

    def mode(self, codes: Ints, weights: Ints) -> str:
        """Return the most frequent value, the first of several."""
        return self.texts[int(np.bincount(codes, weights).argmax())]


def numbers(name: str, texts: Sequence[str], *, integers: bool) -> AttributeAxes:
    """Return a numeric attribute. Raises PluginError where a value is no number."""
    try:
        values = decimals(texts)
    except UnplacedError as fault:
        text = f"{fault.values} of {len(texts)} distinct values of the column `{name}` {fault.what}"
        raise PluginError(Diagnostic(fault.code, text, help=fault.advice or None)) from None
    places = 0 if integers else max((-int(n.as_tuple().exponent) for n in values), default=0)
    if any(abs(n) > LARGEST for n in values):
        text = f"the column `{name}` has numbers beyond 1e150, whose squares no computer number holds"
        raise PluginError(Diagnostic("PPF882", text))
    points = np.array([float(n) for n in values], dtype=np.float64)[:, None]
    return AttributeAxes(tuple(texts), points, ranked=True, digits=max(0, min(places, 15)))


def moments(texts: Sequence[str], kind: AttributeType) -> AttributeAxes:
    """Return an attribute of dates, as days, or of timestamps, as microseconds: of whole seconds where all are."""
    values = parsed(pa.array(texts, pa.string()), kind).values
    whole_seconds = kind is AttributeType.TIMESTAMP and not (values % MICROSECONDS).any()
    points = (values.astype(np.float64))[:, None]
    return AttributeAxes(
        tuple(texts), points, ranked=True, digits=0, time=kind, unit=MICROSECONDS if whole_seconds else 1
    )


def ranks(name: str, texts: Sequence[str], order: Sequence[str]) -> AttributeAxes:
    """Return an attribute whose values have ``order``. Raises PluginError where some have no place in it."""
    place = {value: i for i, value in enumerate(order)}
    absent = sum(t not in place for t in texts)
    if absent:
        text = f"{absent} of {len(texts)} distinct values of the column `{name}` have no place in its order"
        raise PluginError(Diagnostic("PPF789", text))
    return AttributeAxes(tuple(texts), np.array([float(place[t]) for t in texts])[:, None], ranked=True)


def indicators(name: str, texts: Sequence[str]) -> AttributeAxes:
    """Return an attribute whose values are all equally far from each other. Raises PluginError for too many."""
    if len(texts) > MOST_TEXTS:
        text = f"the column `{name}` has {len(texts)} distinct values without an order; at most {MOST_TEXTS} can be"
        raise PluginError(
            Diagnostic("PPF882", f"{text} grouped", help="declare its `type`, or `hierarchy: {order: …}`")
        )
    return AttributeAxes(tuple(texts), np.eye(len(texts)), ranked=False)


def standardized(points: Floats, codes: Ints, weights: Ints) -> Floats:
    """Return the coordinates (items, axes) with a total variance of 1 over the cells that are not missing.

    Those of missing cells (codes below zero) are 0, and so are all where the others are equal.
    """
    present = codes >= 0
    coordinates = np.zeros((len(codes), points.shape[1]))
    coordinates[present] = points[codes[present]]
    share = np.where(present, weights, 0) / max(1, weights[present].sum())
    centered = np.where(present[:, None], coordinates - share @ coordinates, 0.0)
    spread = float(np.sqrt((share @ centered**2).sum()))
    return centered / spread if spread > 0 else np.zeros_like(coordinates)


# Groups beside missing cells: rows are grouped with those of their stratum that miss the same attributes.
#
# A missing cell stays missing, so a group of k equal rows has k rows that miss the same. Where fewer than k rows of a
# stratum miss the same attributes, cells of other rows are emptied until k do: as few as a greedy choice finds.


_MOST_CHOICES = 20
"""With so many patterns, the most similar ones, joining is tried."""


@dataclass(frozen=True, slots=True, eq=False)
class IncompleteRows:
    """Distinct rows: ``points``, one array (items, axes) an attribute, and which cells are ``missing``.

    ``missing`` has shape (items, attributes), ``weights`` (items,). Where people count, ``of_row`` (rows,) is the item
    of each row and ``persons`` (rows,) whose row it is.
    """

    points: tuple[Floats, ...]
    missing: Bools
    weights: Ints
    of_row: Ints
    persons: Ints | None

    def size(self, items: Ints) -> int:
        """Return how many rows the items have, or how many people where people count."""
        if self.persons is None:
            return int(self.weights[items].sum())
        return len(np.unique(self.persons[np.isin(self.of_row, items)]))

    def coordinates(self, items: Ints, attributes: Ints) -> Floats:
        """Return the coordinates of items over some attributes, shape (items, axes)."""
        chosen = [self.points[j][items] for j in attributes]
        return np.ascontiguousarray(np.concatenate([np.zeros((len(items), 0)), *chosen], axis=1))


def patterns_of_k(items: IncompleteRows, strata: Ints, k: int, *, apart: bool) -> Bools:
    """Return which cells are missing in the release, shape (items, attributes).

    In each stratum k rows miss the same attributes. ``apart``: one attribute whose missing cells need no company;
    its values do, and are emptied where a stratum has fewer than k rows with one.
    """
    patterns = items.missing.copy()
    for rows in _equal_rows(strata[:, None]):
        missing = items.missing[rows]
        if apart:
            patterns[rows] |= items.size(rows[~missing[:, 0]]) < k
        elif missing.any():
            _join_patterns(items, patterns, rows, k)
    return patterns


def _join_patterns(items: IncompleteRows, patterns: Bools, rows: Ints, k: int) -> None:
    """Empty cells of the items ``rows`` of one stratum, in place, until each pattern has k rows."""
    while True:
        members = [rows[part] for part in _equal_rows(patterns[rows])]
        sizes = [items.size(part) for part in members]
        if min(sizes) >= k or len(members) == 1:
            return
        own = members.pop(int(np.argmin(sizes)))
        differing = [int((patterns[own[0]] ^ patterns[other[0]]).sum()) for other in members]
        choices = []
        for place in np.argsort(differing, kind="stable")[:_MOST_CHOICES].tolist():
            union = patterns[own[0]] | patterns[members[place][0]]
            alike = [part for part in members if (patterns[part[0]] == union).all()]
            joined = np.union1d(own, alike[0]) if alike else own
            moved = np.union1d(joined, _nearest(items, own, joined, members[place], union, k))
            emptied = (union & ~patterns[moved]).sum(axis=1)
            choices.append((int(items.weights[moved] @ emptied), place, moved, union))
        _, _, moved, union = min(choices, key=lambda choice: choice[:2])
        patterns[moved] = union


def _nearest(items: IncompleteRows, own: Ints, joined: Ints, others: Ints, union: Bools, k: int) -> Ints:
    """Return those of ``others`` that are nearest to ``own`` until there are k rows with what is ``joined`` already.

    All of them, where fewer than k would be left.
    """
    shared = np.flatnonzero(~union)
    center = items.coordinates(own, shared).mean(axis=0)
    away = ((items.coordinates(others, shared) - center) ** 2).sum(axis=1)
    order = others[np.argsort(away, kind="stable")]
    several = next((n for n in range(len(order) + 1) if items.size(np.union1d(joined, order[:n])) >= k), len(order))
    left = np.setdiff1d(order[several:], joined)
    return order if len(left) and items.size(left) < k else order[:several]


def grouped_apart(items: IncompleteRows, strata: Ints, patterns: Bools, k: int, most: int) -> ItemGroups:
    """Group the items of each stratum and pattern by themselves; where all is missing, they are one group."""
    group, size, slices = np.zeros(len(strata), dtype=np.int64), 0, 1
    for rows in _equal_rows(np.column_stack([strata, patterns])):
        points = items.coordinates(rows, np.flatnonzero(~patterns[rows[0]]))
        if points.shape[1]:
            own = _grouped(items, rows, points, k, most)
            group[rows], slices = own.group + size, max(slices, own.slices)
            size += own.size
        else:
            group[rows] = size
            size += 1
    return ItemGroups(group, size, slices)


def _grouped(items: IncompleteRows, rows: Ints, points: Floats, k: int, most: int) -> ItemGroups:
    groups = grouped(points, items.weights[rows], k, most)
    if items.persons is None:
        return groups
    here = np.isin(items.of_row, rows)
    return with_people(groups, points, np.searchsorted(rows, items.of_row[here]), items.persons[here], k)


def _equal_rows(keys: npt.NDArray[np.generic]) -> list[Ints]:
    """Return the positions of the rows of ``keys`` (n, d) that are equal, each set ascending."""
    _, which, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return np.split(np.argsort(which.ravel(), kind="stable"), np.cumsum(sizes)[:-1])[: len(sizes)]
