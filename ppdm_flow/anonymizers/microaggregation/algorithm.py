"""Microaggregation over distinct rows: each of them goes to one group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.class_models.reading import by_person
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.microaggregation.account import GroupingLoss, charts, figures, findings
from ppdm_flow.anonymizers.microaggregation.axes import AttributeAxes, indicators, moments, numbers, ranks, standardized
from ppdm_flow.anonymizers.microaggregation.missing_cells import IncompleteRows, grouped_apart, patterns_of_k
from ppdm_flow.anonymizers.microaggregation.spec import MicroaggregationParams, chosen, kind_of
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.local_recoding.groups import ItemGroups
from ppdm_flow.mining.recoding.kernels import places_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.numeric.parsing import parsed
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]

Codes = npt.NDArray[np.int32]


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
        told = {"k": self.k, "together": [list(p.names) for p in self.parts], "slices": self.slices}
        within = self.parts[0].within if self.parts else ()
        return {**told, "within": list(within)} if within else told


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
