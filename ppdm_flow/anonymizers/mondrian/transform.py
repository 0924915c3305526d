"""The classes, row by row: by the cuts that a row's values lead through, or by its source row number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.mondrian.values import Values
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.local_recoding.kernels import walked
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]


class Way(Protocol):
    """How a row finds its class."""

    def classes(self, part: Table, values: tuple[Values, ...], step: str) -> Ints:
        """Return the class of each row."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ByValues:
    """Strict partitioning: the tree of cuts."""

    cuts: Ints
    after: Ints

    def classes(self, part: Table, values: tuple[Values, ...], step: str) -> Ints:
        """Walk down the tree. Raises PluginError for values that were not seen."""
        codes = np.stack([v.coded(part[v.name], step) for v in values], axis=1)
        return walked(np.ascontiguousarray(codes), self.cuts, self.after)


@dataclass(frozen=True, slots=True, eq=False)
class ByRow:
    """Relaxed partitioning: ``rows`` ascending, beside the class of each."""

    rows: Ints
    found: Ints

    def classes(self, part: Table, _values: tuple[Values, ...], step: str) -> Ints:
        """Look the rows up. Raises PluginError for rows that were not there."""
        at = np.searchsorted(self.rows, part.rows)
        at[at == len(self.rows)] = 0
        if len(part) and (not len(self.rows) or (self.rows[at] != part.rows).any()):
            raise PluginError(Diagnostic("PPF789", f"step `{step}` meets rows that it did not see when it was fitted"))
        return self.found[at]


@dataclass(frozen=True, slots=True, eq=False)
class MondrianTransform(Deterministic):
    """``labels`` has a cell for each class, attribute by attribute as ``values``."""

    step: str
    values: tuple[Values, ...]
    way: Way
    labels: tuple[Column, ...]
    classes: int

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Replace the values of every row by its class's labels."""
        if not len(part):
            empty = np.zeros(0, dtype=np.int64)
            return part.replaced({v.name: c.take(empty) for v, c in zip(self.values, self.labels, strict=True)})
        found = self.way.classes(part, self.values, self.step)
        return part.replaced({v.name: c.take(found) for v, c in zip(self.values, self.labels, strict=True)})

    def describe(self) -> Mapping[str, Any]:
        """Return what the values become, and how many classes there are."""
        labels = {v.name: v.scale.form.name.lower() for v in self.values}
        return {"labels": labels, "parts": self.classes, "relaxed": isinstance(self.way, ByRow)}
