"""A number for every leaf at every level, added up over records or over the classes that are suppressed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.ground import WeightedRows
from ppdm_flow.mining.recoding.grouping import RowGrouping
from ppdm_flow.mining.recoding.kernels import weighted

Floats = npt.NDArray[np.float64]


class LevelTables:
    """``tables[j][l]`` (domain of j,): the number of each leaf of attribute j at level l; equal where codes are."""

    def __init__(self, ground: WeightedRows, tables: Sequence[Sequence[Floats]]) -> None:
        self.ground = ground
        self.tables = tables
        self.begins = np.cumsum([0, *(v.domain for v in ground.levels)], dtype=np.int64)[:-1]

    def totals(self) -> list[Floats]:
        """Return, for each attribute and level, the sum over all records."""
        ground = self.ground
        weights = [np.bincount(c, ground.weights, v.domain) for c, v in zip(ground.codes.T, ground.levels, strict=True)]
        return [np.array([w @ t for t in by_level]) for w, by_level in zip(weights, self.tables, strict=True)]

    def outside(self, grouping: RowGrouping, kept: npt.NDArray[np.bool_]) -> Floats:
        """Return, for each attribute, the sum over the records of classes that are not kept."""
        flat = [t[level] for t, level in zip(self.tables, grouping.node, strict=True)]
        joined = np.concatenate(flat) if flat else np.zeros(0)
        return weighted(self.ground.codes, grouping.first, grouping.sizes, kept, joined, self.begins)
