"""Rank swapping: order the numbers of a column, and let near ones change places."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.number_columns import Kinds, kinds_of, numbers_of
from ppdm_flow.anonymizers.rank_swap.spec import NOBODY, RankSwapParams
from ppdm_flow.anonymizers.row_groups import groups_of, rows_by_group
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_TRIAL = hashlib.sha256(b"ppdm-flow rank swap, trial for figures").digest()
"""A key that everybody knows: figures are those of a swap that is never released."""


def ranked(values: npt.NDArray[Any], ties: Floats) -> Integers:
    """Return the positions in ascending order of values; equal ones in that of ``ties``."""
    return np.lexsort((ties, values))


def sources(values: npt.NDArray[Any], ties: Floats, picks: Floats, reach: int) -> Integers:
    """Return for each cell the position of the cell whose number it gets, at most ``reach`` ranks away.

    ``ties`` and ``picks`` are independent uniform draws, shape (rows,) as ``values``.
    """
    order = ranked(values, ties)
    out = np.empty(len(order), dtype=np.int64)
    out[order] = order[partners(picks[order], reach)]
    return out


def reach_of(percent: float, cells: int) -> int:
    """Return over how many ranks numbers change places: ``percent`` of the cells, rounded down."""
    return math.floor(percent * cells / 100.0 + 1e-9)


class RankSwap:
    """Lets numbers change places with numbers of near rank."""

    def __init__(self, params: RankSwapParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Swap once for the figures. Raises PluginError for labels, and where ``percent`` reaches no other rank."""
        kinds = kinds_of(self.params.attributes, data, ctx)
        require(self.params.within, data.schema.names, ctx.step)
        transform = RankSwapTransform(self.params, kinds)
        table = data.table(tuple(dict.fromkeys((*kinds, *self.params.within))))
        trial = transform.apply_table(table, Draws(_TRIAL, transform.draws_per_row))[""]
        before, after = ([numbers_of(t[n], n, k) for n, k in kinds.items()] for t in (table, trial))
        return Fitted(transform, _figures(tuple(kinds), before, after))


@dataclass(frozen=True, slots=True)
class RankSwapTransform:
    """Two draws a row and attribute: its place among equal numbers, and whom it changes places with."""

    params: RankSwapParams
    kinds: Kinds

    @property
    def draws_per_row(self) -> int:
        """Two an attribute."""
        return 2 * len(self.kinds)

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Swap. Raises PluginError for labels, and where nothing can be swapped."""
        uniform = draws.uniform(table.rows)
        strata = groups_of([table[name] for name in self.params.within], len(table))
        changed: dict[str, Column] = {}
        for place, (name, kind) in enumerate(self.kinds.items()):
            column = numbers_of(table[name], name, kind)
            rows = np.arange(len(table)) if column.missing is None else np.flatnonzero(~column.missing)
            ties, picks = uniform[:, 2 * place], uniform[:, 2 * place + 1]
            values, moves = column.values.copy(), len(rows) < 2
            for own in rows_by_group(rows, strata):
                reach = reach_of(self.params.percent, len(own))
                moves |= len(own) > 1 and reach > 0
                values[own] = values[own][sources(values[own], ties[own], picks[own], reach)]
            if not moves:
                raise self._nothing_moves(name)
            changed[name] = NumericColumn(values, kind, column.missing)
        return {"": table.replaced(changed)}

    def _nothing_moves(self, name: str) -> PluginError:
        text, help_text = f"{self.params.percent:g} % of the cells of the column `{name}`", "raise `percent`"
        if self.params.within:
            text, help_text = f"{text} in each stratum", f"{help_text}, or name fewer attributes in `within`"
        return PluginError(Diagnostic(NOBODY, f"{text} are less than one rank", help=help_text))

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json")


def _figures(
    names: Sequence[str], before: Sequence[NumericColumn], after: Sequence[NumericColumn]
) -> dict[str, Figure]:
    """Return figures of a swap with a known key, as an estimate of those of the released one."""
    figures: dict[str, Figure] = {}
    for name, old, new in zip(names, before, after, strict=True):
        cells = len(old.present())
        note = "" if cells else "the column has no number"
        figures[f"{name}.rank_displacement"] = Figure(_displacement(old.present(), new.present()), "share", note=note)
        kept = correlation(old.floats(), new.floats())
        figures[f"{name}.kept_correlation"] = Figure(kept, "correlation", note=_note(kept))
    if len(names) > 1:
        pairs = [(i, j) for i in range(len(names)) for j in range(i)]
        changes = [_change(before[i], before[j], after[i], after[j]) for i, j in pairs]
        known = [c for c in changes if c is not None]
        largest = max(known) if known else None
        figures["correlation_change"] = Figure(largest, "correlation", note=_note(largest))
    return figures


def _note(value: float | None) -> str:
    return "" if value is not None else "a column has one value at most"


def _displacement(old: npt.NDArray[Any], new: npt.NDArray[Any]) -> float | None:
    """Return the mean difference of ranks, as a share of the cells; equal numbers have the mean of their ranks."""
    if not len(old):
        return None
    distinct, counts = np.unique(old, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2.0
    apart = np.abs(rank[np.searchsorted(distinct, new)] - rank[np.searchsorted(distinct, old)])
    return float(apart.mean() / len(old))


def correlation(x: Floats, y: Floats) -> float | None:
    """Return the correlation over the rows that have both numbers; None where one of them does not vary."""
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < 2:
        return None
    x, y = x - x.mean(), y - y.mean()
    size = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return max(-1.0, min(1.0, float((x * y).sum()) / size)) if 0.0 < size < math.inf else None


def _change(x: NumericColumn, y: NumericColumn, new_x: NumericColumn, new_y: NumericColumn) -> float | None:
    old, new = correlation(x.floats(), y.floats()), correlation(new_x.floats(), new_y.floats())
    return None if old is None or new is None else abs(new - old)


@compiled
def partners(uniform: npt.NDArray[np.float64], reach: int) -> npt.NDArray[np.int64]:
    """Return the rank that each rank changes places with, shape (n,); its own where none was free.

    From the lowest rank i on: one that is still free takes a partner among the free ranks i + 1 to i + ``reach``, each
    with the same probability (Moore, Controlled data-swapping techniques for masking public use microdata sets, 1996).
    The free ones stand in a pool in no order, so that a step takes constant time; ``uniform`` of shape (n,) picks.
    """
    size = len(uniform)
    other = np.arange(size)
    pool = np.empty(size, dtype=np.int64)
    place = np.full(size, -1)
    free = 0
    entered = 1
    for i in range(size):
        while entered < size and entered <= i + reach:
            pool[free] = entered
            place[entered] = free
            free += 1
            entered += 1
        if i > 0:
            if place[i] < 0:  # a lower rank has it
                continue
            free -= 1
            last = pool[free]
            pool[place[i]] = last
            place[last] = place[i]
            place[i] = -1
        if free == 0:
            continue
        picked = min(free - 1, int(uniform[i] * free))
        j = pool[picked]
        free -= 1
        last = pool[free]
        pool[picked] = last
        place[last] = picked
        place[j] = -1
        other[i] = j
        other[j] = i
    return other
