"""Rounding to multiples of a base: nearest, at random without bias, or so that totals are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.number_columns import (
    MICROSECONDS,
    beyond,
    checked,
    decimals_of,
    kinds_of,
    moments_of,
    numbers_of,
    present_cells,
)
from ppdm_flow.anonymizers.round_values.spec import RoundParams
from ppdm_flow.anonymizers.row_groups import groups_of
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.moments import mean_of
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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


# Numbers as multiples of a base and remainders, in whole numbers.


_EXACT = 2.0**53
_FINE = 1 << 32


@dataclass(frozen=True, slots=True)
class RoundingGrid:
    """The multiples of ``base`` / 10^``decimals``, a fraction of whole numbers, for a column of the type ``kind``.

    ``modulus``: a number is q bases and r / modulus of one, 0 <= r < modulus. That is exact for whole numbers, dates
    and timestamps, and for floats that have at most ``decimals`` decimals; else r is rounded to the nearest of 2^32.
    """

    name: str
    kind: AttributeType
    base: int
    decimals: int
    exact: bool = True

    @classmethod
    def of(cls, name: str, kind: AttributeType, base: Decimal, decimals: int, largest: float) -> RoundingGrid:
        """Return the grid; ``decimals`` of the column, and its ``largest`` absolute value, say whether it is exact."""
        if kind is not AttributeType.FLOAT:
            unit = MICROSECONDS if kind is AttributeType.TIMESTAMP else 1
            return cls(name, kind, int(base * unit), 0)
        own = max(0, -int(base.as_tuple().exponent))
        places = max(own, decimals)
        exact = max(largest, float(base)) * 10.0**places < _EXACT / 4
        places = places if exact else own
        return cls(name, kind, int(base.scaleb(places)), places, exact)

    @property
    def modulus(self) -> int:
        """How fine remainders are."""
        return self.base if self.exact else _FINE

    def split(self, values: npt.NDArray[Any]) -> tuple[Integers, Integers]:
        """Return (q, r) of each number. Raises PluginError for floats of more than 2^53 bases."""
        if self.exact:
            integers = values
            if self.kind is AttributeType.FLOAT:
                integers = np.rint(values * 10.0**self.decimals).astype(np.int64)
            quotients, remainders = np.divmod(integers, self.base)
            return quotients, remainders
        bases = values / (self.base / 10.0**self.decimals)
        if not (np.abs(bases) < _EXACT).all():
            raise beyond(self.name)
        below = np.floor(bases)
        rest = np.rint((bases - below) * _FINE).astype(np.int64)
        return below.astype(np.int64) + (rest == _FINE), np.where(rest == _FINE, 0, rest)

    def values(self, quotients: Integers) -> npt.NDArray[Any]:
        """Return the multiples as numbers of the column. Raises PluginError for those that its type cannot hold."""
        if self.kind is AttributeType.FLOAT:
            numbers: npt.NDArray[Any] = quotients.astype(np.float64) * self.base / 10.0**self.decimals + 0.0
            return numbers
        if not (np.abs(quotients.astype(np.float64) * self.base) < 2.0**63).all():
            raise beyond(self.name)
        return checked(quotients * self.base, self.name, self.kind)


def nearest(quotients: Integers, remainders: Integers, modulus: int) -> Integers:
    """Return the multiples that are nearest; halves go to the even one."""
    twice = 2 * remainders
    up = (twice > modulus) | ((twice == modulus) & (quotients % 2 == 1))
    rounded: Integers = quotients + up
    return rounded


def at_random(quotients: Integers, remainders: Integers, modulus: int, uniform: Floats) -> Integers:
    """Return multiples of which the upper one is taken with probability remainder / modulus; multiples stay."""
    rounded: Integers = quotients + (uniform * modulus < remainders)
    return rounded


def controlled(
    remainders: Integers, modulus: int, groups: Integers, keys: Floats, start: float
) -> npt.NDArray[np.bool_]:
    """Return which numbers are rounded up, so that each group's and the whole total change by less than one base.

    Systematic sampling on cumulated remainders: rows in random order (by ``keys``), group after group; with R_i the sum
    of the first i remainders and a start u in [0, modulus), row i goes up where a multiple of the modulus lies in
    (R_{i-1} + u, R_i + u]. So each goes up with probability remainder / modulus, and over any run of rows the number of
    those that do differs by less than 1 from the sum of remainders over the modulus (Cox, A constructive procedure for
    unbiased controlled rounding, JASA 82, 1987, has the problem; this is its solution for one way of grouping).
    """
    if modulus > _FINE:  # sums of finer remainders would not fit 64 bits
        remainders = np.minimum(np.rint(remainders / modulus * _FINE), _FINE - 1).astype(np.int64)
        modulus = _FINE
    first = np.full(int(groups.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, groups, keys)
    order = np.lexsort((keys, first[groups]))
    sums = np.cumsum(remainders[order]) + int(start * modulus)
    before = np.append(int(start * modulus), sums[:-1])[: len(sums)]
    up = np.zeros(len(remainders), dtype=bool)
    up[order] = sums // modulus > before // modulus
    return up
