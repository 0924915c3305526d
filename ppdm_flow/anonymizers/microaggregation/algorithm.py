"""Microaggregation over distinct rows: each of them goes to one group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.class_models.reading import by_person
from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.microaggregation.account import Loss, charts, figures, findings
from ppdm_flow.anonymizers.microaggregation.axes import Axes, indicators, moments, numbers, ranks, standardized
from ppdm_flow.anonymizers.microaggregation.spec import MicroaggregationParams, chosen, kind_of
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.records import dataclass
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.local_recoding.groups import Groups, grouped
from ppdm_flow.mining.local_recoding.people_groups import with_people
from ppdm_flow.mining.recoding.kernels import places_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
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

    @property
    def size(self) -> int:
        """How many there are: people where they count, else rows."""
        return self.counts.total if self.persons is None else len(np.unique(self.persons))


def _read(data: DataView, columns: list[str], ctx: StepContext) -> DistinctRows:
    read = by_person(data, columns, ctx)
    if read is None:
        return DistinctRows(data.counts(columns), np.zeros(0, dtype=np.int64))
    codes, of_row, rows = np.unique(read.counts.codes, axis=0, return_inverse=True, return_counts=True)
    counts = Counts(tuple(columns), read.counts.categories, codes, rows.astype(np.int64))
    return DistinctRows(counts, of_row.ravel().astype(np.int64), read.persons)


@dataclass(frozen=True, slots=True, eq=False)
class AveragedColumns:
    """Attributes that were grouped together: ``known`` (combinations, attributes) are codes in ``texts``.

    ``released`` has a column for each attribute with a cell for each combination.
    """

    names: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    known: Codes
    released: tuple[Column, ...]

    def columns(self, part: Table, step: str) -> dict[str, Column]:
        """Return the released columns. Raises PluginError for values that were not seen."""
        codes = [_codes(part[n], t) for n, t in zip(self.names, self.texts, strict=True)]
        at = places_of(np.stack(codes, axis=1), self.known)
        if (at < 0).any():
            text = f"step `{step}` meets values in the column `{self.names[0]}` that it did not see when it was fitted"
            raise PluginError(Diagnostic("PPF789", text))
        return {n: c.take(at) for n, c in zip(self.names, self.released, strict=True)}


def _codes(column: Column, texts: tuple[str, ...]) -> Codes:
    """Return the place of each cell among ``texts``, -1 for those without."""
    place = pc.index_in(column.categories, value_set=pa.array(texts, pa.string())).fill_null(-1)
    table = np.concatenate([place.to_numpy(zero_copy_only=False), [-1, -1]]).astype(np.int32)
    return table[column.codes]


@dataclass(frozen=True, slots=True, eq=False)
class MicroaggregationTransform(Deterministic):
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
        return {"k": self.k, "together": [list(p.names) for p in self.parts], "slices": self.slices}


class Microaggregation:
    """Counts distinct rows, groups them, and says what each becomes."""

    def __init__(self, params: MicroaggregationParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the groups. Raises PluginError for cells that cannot be averaged, and for fewer rows than k."""
        scope = Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls, people=ctx.people)
        names, k = chosen(self.params, scope)
        require((*names, *subject_read(scope)), data.schema.names, ctx.step)
        least = k or 2
        together = [(n,) for n in names] if self.params.apart else [names]
        parts = [self._averaged(_read(data, list(part), ctx), least, ctx) for part in together]
        losses = [loss for _, loss in parts]
        slices = max(loss.groups.slices for loss in losses)
        return Fitted(
            MicroaggregationTransform(ctx.step, tuple(a for a, _ in parts), least, slices),
            figures=figures(losses),
            findings=findings(ctx.step, slices, self.params.most),
            charts=charts(ctx.step, losses),
        )

    def _averaged(self, read: DistinctRows, k: int, ctx: StepContext) -> tuple[AveragedColumns, Loss]:
        counts = read.counts
        _refuse_marks(counts)
        if len(counts) and read.size < k:
            has = f"{read.size:,} {'rows' if read.persons is None else 'people'}"
            text = f"step `{ctx.step}` cannot keep the requirements: the table has {has}, a group {k}"
            raise PluginError(Diagnostic("PPF881", text, help="lower `k`, or release nothing of so few rows"))
        axes = [self._axes(name, counts, ctx) for name in counts.columns]
        codes = counts.codes.astype(np.int64)
        every = [standardized(a.points, codes[:, j], counts.counts) for j, a in enumerate(axes)]
        none = Groups(np.zeros(0, dtype=np.int64), 0, 1)
        points = np.ascontiguousarray(np.concatenate(every, axis=1))
        groups = grouped(points, counts.counts, k, self.params.most) if len(counts) else none
        if read.persons is not None:
            groups = with_people(groups, points, read.of_row, read.persons, k)
        texts = [self._released(a, codes[:, j], counts.counts, groups) for j, a in enumerate(axes)]
        released = tuple(
            _column(own, place[groups.group], ctx.attributes.get(name))
            for name, (own, place) in zip(counts.columns, texts, strict=True)
        )
        averaged = AveragedColumns(counts.columns, tuple(a.texts for a in axes), counts.codes, released)
        return averaged, Loss(counts.columns, tuple(every), counts.counts, groups)

    def _axes(self, name: str, counts: Counts, ctx: StepContext) -> Axes:
        facts = ctx.attributes.get(name)
        texts, kind = counts.names(name).to_pylist(), kind_of(facts)
        if kind == "number":
            return numbers(name, texts, integers=facts is not None and facts.type is AttributeType.INTEGER)
        if kind == "time" and facts is not None:
            return moments(texts, facts.type)
        if kind == "order" and facts is not None and facts.hierarchy is not None:
            return ranks(name, texts, facts.hierarchy.order or ())
        return indicators(name, texts)

    def _released(self, axes: Axes, codes: Ints, weights: Ints, groups: Groups) -> tuple[list[str], Ints]:
        """Return distinct texts, and the place among them of what each group becomes."""
        way: Callable[[Ints, Ints], str] = axes.mode
        if axes.ranked:
            way = axes.mean if self.params.release == "mean" and axes.digits is not None else axes.median
        order = np.argsort(groups.group, kind="stable")
        members = np.split(order, np.searchsorted(groups.group[order], np.arange(1, groups.size)))
        by_group = [way(codes[m], weights[m]) for m in members[: groups.size]]
        texts, place = np.unique(np.asarray(by_group, dtype=object).astype(str), return_inverse=True)
        return texts.tolist(), place


def _column(texts: list[str], places: Ints, facts: AttributeFacts | None) -> Column:
    """Return a column of texts, or of numbers where the attribute holds numbers."""
    if facts is None or not facts.is_numeric:
        return Column(places.astype(np.int32), pa.array(texts, pa.string()))
    return NumericColumn(parsed(pa.array(texts, pa.string()), facts.type).values[places], facts.type)


def _refuse_marks(counts: Counts) -> None:
    for name in counts.columns:
        if (counts.of(name) < 0).any():
            text = f"the column `{name}` has missing or suppressed cells, which cannot be averaged"
            help_text = "`source.incomplete_rows: drop` drops their rows"
            raise PluginError(Diagnostic("PPF882", text, help=help_text))
