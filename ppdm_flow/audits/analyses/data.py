"""The rows of an analysis on both sides, with their weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.analyses.variables import (
    AnalysisVariable,
    UncomparableError,
    category,
    complete,
    number,
    numbers_of,
    predictor,
)
from ppdm_flow.core.analyses import Analysis
from ppdm_flow.mining.regression.design import Floats, Integers
from ppdm_flow.mining.releases.attributes import namesakes
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisSide:
    """``cells`` by attribute, ``counts`` (how many rows a row stands for) and ``weights``, shape (rows,).

    Weights have counts within them, and a sum of as many as there are rows. ``complete`` marks the rows that have all
    variables and a positive weight. ``numbers`` are the source's row numbers.
    """

    cells: Mapping[str, Floats | Integers]
    counts: Floats
    weights: Floats
    complete: Mask
    numbers: Integers

    def take(self, rows: Mask) -> AnalysisSide:
        """Return the rows under a mask."""
        cells = {name: each[rows] for name, each in self.cells.items()}
        return AnalysisSide(cells, self.counts[rows], self.weights[rows], self.complete[rows], self.numbers[rows])

    @property
    def used(self) -> float:
        """The share of rows that are complete."""
        total = float(self.counts.sum())
        return float(self.counts[self.complete].sum()) / total if total else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisData:
    """An analysis' data before and after; ``weighted`` says on which sides rows have sampling weights."""

    before: AnalysisSide
    after: AnalysisSide
    variables: Mapping[str, AnalysisVariable]
    weighted: tuple[bool, bool]

    @property
    def coarser(self) -> tuple[str, ...]:
        """The attributes that are compared at another level than the original's."""
        return tuple(name for name, each in self.variables.items() if each.coarser)


def read(analysis: Analysis, original: DataView, candidate: DataView, ctx: AuditContext) -> AnalysisData:
    """Return the rows of an analysis. Raises UncomparableError where it cannot be run on both."""
    columns: dict[str, str] = {}
    for attribute in analysis.attributes:
        if attribute not in original.schema:
            raise UncomparableError(f"the original has no column `{attribute}`")
        carriers = namesakes(attribute, candidate, ctx)
        if not carriers:
            raise UncomparableError(f"`{attribute}` is not released")
        columns[attribute] = next((c for c in carriers if ctx.attributes[c].unchanged), carriers[0])
    weight = original.schema.sampling_weight if analysis.weighted else None
    carriers = namesakes(weight, candidate, ctx) if weight is not None else ()
    before = original.table(_with(list(columns), weight, original.schema.weight))
    after = candidate.table(_with(list(columns.values()), *carriers[:1], candidate.schema.weight))
    variables = {a: _variable(analysis, a, before, after, c, ctx) for a, c in columns.items()}
    first = _side(before, {a: v.before for a, v in variables.items()}, weight, original.schema.weight)
    second = _side(
        after, {a: v.after for a, v in variables.items()}, next(iter(carriers), None), candidate.schema.weight
    )
    return AnalysisData(first, second, variables, (weight is not None, bool(carriers)))


def _with(names: list[str], *more: str | None) -> list[str]:
    return list(dict.fromkeys((*names, *(each for each in more if each is not None))))


def _variable(
    analysis: Analysis, attribute: str, before: Table, after: Table, column: str, ctx: AuditContext
) -> AnalysisVariable:
    if attribute == analysis.number:
        return number(attribute, before[attribute], after[column])
    if analysis.form == "regression" and attribute != analysis.regression:
        return predictor(attribute, before[attribute], after[column], column, ctx)
    return category(attribute, before[attribute], after[column], column, ctx)


def _side(table: Table, cells: dict[str, Floats | Integers], weight: str | None, count: str | None) -> AnalysisSide:
    counts = np.ones(len(table)) if count is None else weights_of(table[count]).astype(np.float64)
    sampling = np.ones(len(table))
    if weight is not None:
        numbers = numbers_of(table[weight])
        if numbers is None:
            raise UncomparableError(f"the sampling weights are released as labels, `{weight}`")
        sampling = np.nan_to_num(numbers, nan=0.0)
    weights = counts * sampling
    whole = weights > 0
    for each in cells.values():
        whole &= complete(each)
    total = float(weights[weights > 0].sum())
    return AnalysisSide(cells, counts, weights * (float(counts.sum()) / total if total else 1.0), whole, table.rows)
