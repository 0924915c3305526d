"""Rounding to multiples of a base: nearest, at random without bias, or so that totals are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.number_columns import decimals_of, kinds_of, moments_of, numbers_of, present_cells
from ppdm_flow.anonymizers.round_values.grid import Floats, Integers, RoundingGrid, at_random, controlled, nearest
from ppdm_flow.anonymizers.round_values.spec import RoundParams
from ppdm_flow.anonymizers.row_groups import groups_of
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.moments.moments import mean_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table


class RoundValues:
    """Rounds numbers."""

    def __init__(self, params: RoundParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Look at decimals and ranges. Raises PluginError, naming the column, for labels."""
        params = self.params
        kinds = kinds_of(params.attributes, data, ctx)
        require(params.by, data.schema.names, ctx.step)
        grids = tuple(self._grid(data, name, kind) for name, kind in kinds.items())
        figures = {k: v for grid in grids for k, v in _figures(data, grid, params.how).items()}
        if params.how == "controlled":
            return Fitted(ControlledTransform(params, grids), figures)
        return Fitted(RoundTransform(params, grids), figures)

    def _grid(self, data: DataView, name: str, kind: AttributeType) -> RoundingGrid:
        decimals, largest = 0, 0.0
        if kind is AttributeType.FLOAT:
            decimals = decimals_of(data, name, kind)
            largest = max((float(np.abs(v).max(initial=0.0)) for v, _ in present_cells(data, name, kind)), default=0.0)
        return RoundingGrid.of(name, kind, self.params.exact, decimals, largest)


def _figures(data: DataView, grid: RoundingGrid, how: str) -> dict[str, Figure]:
    """Return expected figures: what `random` and `controlled` do depends on draws, on average nothing."""
    deviation = float(moments_of(data, {grid.name: grid.kind}).deviations[0])
    base = grid.base / 10.0**grid.decimals
    none = "" if deviation > 0 else "the column has one value at most"
    figures = {
        f"{grid.name}.base_to_sd": Figure(base / deviation if deviation else None, "standard deviations", note=none)
    }

    def mean(of: Any) -> float | None:
        cells = present_cells(data, grid.name, grid.kind)
        return mean_of((of(*grid.split(values)).astype(np.float64), weights) for values, weights in cells)

    changed = mean(lambda _q, r: r != 0)
    note = "" if changed is not None else "the column has no number"
    figures[f"{grid.name}.rounded"] = Figure(changed, "share", note=note)
    shift = mean(lambda q, r: nearest(q, r, grid.modulus) - q - r / grid.modulus) if how == "nearest" else 0.0
    figures[f"{grid.name}.shift"] = Figure(shift, "bases", note="expected" if how != "nearest" else note)
    return figures


@dataclass(frozen=True, slots=True)
class RoundTransform:
    """Each cell by itself; `nearest` draws nothing, `random` one draw an attribute."""

    params: RoundParams
    grids: tuple[RoundingGrid, ...]

    @property
    def draws_per_row(self) -> int:
        """One an attribute where rounding is random."""
        return len(self.grids) if self.params.how == "random" else 0

    def apply(self, part: Table, draws: Draws) -> Table:
        """Round. Raises PluginError for labels, and for results that a column cannot hold."""
        uniform = draws.uniform(part.rows)
        changed: dict[str, Column] = {}
        for place, grid in enumerate(self.grids):
            column = numbers_of(part[grid.name], grid.name, grid.kind)
            quotients, remainders = grid.split(column.values)
            if self.params.how == "random":
                new = at_random(quotients, remainders, grid.modulus, uniform[:, place])
            else:
                new = nearest(quotients, remainders, grid.modulus)
            changed[grid.name] = NumericColumn(grid.values(new), grid.kind, column.missing)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class ControlledTransform:
    """Two draws a row and attribute: its place in the order, and (of the first row) where counting starts."""

    params: RoundParams
    grids: tuple[RoundingGrid, ...]

    @property
    def draws_per_row(self) -> int:
        """Two an attribute."""
        return 2 * len(self.grids)

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Round. Raises PluginError for labels, and for results that a column cannot hold."""
        uniform = draws.uniform(table.rows)
        groups = groups_of([table[name] for name in self.params.by], len(table))
        changed: dict[str, Column] = {}
        for place, grid in enumerate(self.grids):
            keys, starts = uniform[:, 2 * place], uniform[:, 2 * place + 1]
            changed[grid.name] = _controlled(table, grid, groups, keys, starts)
        return {"": table.replaced(changed)}

    def describe(self) -> Mapping[str, Any]:
        """The parameters."""
        return self.params.model_dump(mode="json")


def _controlled(table: Table, grid: RoundingGrid, groups: Integers, keys: Floats, starts: Floats) -> NumericColumn:
    column = numbers_of(table[grid.name], grid.name, grid.kind)
    quotients, remainders = grid.split(column.values)
    if column.missing is not None:
        remainders = np.where(column.missing, 0, remainders)
    start = float(starts[np.argmin(table.rows)]) if len(table) else 0.0
    up = controlled(remainders, grid.modulus, groups, keys, start)
    return NumericColumn(grid.values(quotients + up), grid.kind, column.missing)
