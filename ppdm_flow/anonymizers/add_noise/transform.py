"""Adding noise: one draw a row and attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.add_noise.noise import Floats, combined, held_between, standard_noise
from ppdm_flow.anonymizers.add_noise.spec import NoiseParams
from ppdm_flow.anonymizers.number_columns import checked, moved, numbers_of
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class NoisyAttribute:
    """What becomes of one attribute, in its column's own units.

    A value x becomes shrink (x + e) + (1 - shrink) mean, where e is the sum of ``loadings`` (shape (d,), one for each
    attribute of the step) times standard noise. ``unit``: whole numbers move by multiples of it. ``decimals``: floats
    are rounded to so many. ``low``, ``high``: bounds.
    """

    name: str
    kind: AttributeType
    loadings: Floats
    shrink: float
    mean: float
    unit: int
    decimals: int
    low: Any
    high: Any

    @property
    def sd(self) -> float:
        """The standard deviation of the noise e."""
        return float(np.sqrt((self.loadings**2).sum()))

    def change(self, values: npt.NDArray[Any], noise: Floats) -> Floats:
        """Return what is to be added to each value; ``noise`` of shape (rows, d) is standard."""
        own = combined(self.loadings, noise)
        if self.shrink == 1.0:
            return own
        return self.shrink * own + (self.shrink - 1.0) * (values.astype(np.float64) - self.mean)

    def released(self, values: npt.NDArray[Any], noise: Floats, outside: str) -> npt.NDArray[Any]:
        """Return the released numbers, of the column's own type. Raises PluginError for those that it cannot hold."""
        change = self.change(values, noise)
        if self.kind is not AttributeType.FLOAT:
            new = moved(values, np.rint(change / self.unit), self.unit, self.name, self.kind)
            return checked(held_between(new, self.low, self.high, outside), self.name, self.kind)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            floats = held_between(values + change, self.low, self.high, outside)
            floats = held_between(np.round(floats, self.decimals), self.low, self.high, "clamp") + 0.0
        return checked(floats, self.name, self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class NoiseTransform:
    """Each row uses its own draws only; missing cells stay missing."""

    params: NoiseParams
    attributes: tuple[NoisyAttribute, ...]

    @property
    def draws_per_row(self) -> int:
        """One an attribute."""
        return len(self.attributes)

    def apply(self, part: Table, draws: Draws) -> Table:
        """Add noise. Raises PluginError for labels, and for results that a column cannot hold."""
        noise = standard_noise(draws.words(part.rows), self.params.distribution)
        changed: dict[str, Column] = {}
        for own in self.attributes:
            column = numbers_of(part[own.name], own.name, own.kind)
            rows = slice(None) if column.missing is None else ~column.missing
            values = column.values.copy()
            values[rows] = own.released(column.values[rows], noise[rows], self.params.outside)
            changed[own.name] = NumericColumn(values, own.kind, column.missing)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """The parameters, and to how many decimals floats are rounded."""
        decimals = {own.name: own.decimals for own in self.attributes}
        return {**self.params.model_dump(mode="json"), "rounded_to_decimals": decimals}
