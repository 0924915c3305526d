"""What was averaged, row by row: the group of each combination of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.recoding.kernels import places_of
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Averaged:
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
    parts: tuple[Averaged, ...]
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
