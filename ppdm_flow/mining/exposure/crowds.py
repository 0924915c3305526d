"""Crowds: who is left for somebody that knows a person's grouping values, where cells mix these with sensitive ones.

Inside of a class, the crowd of a person with grouping values q is the rows whose mixed cells occur with some row of
that class whose original has the same q. Beside the crowd's shares count the mean shares of its mixed cells, weighted
by how often rows of q show each: whoever knows how a cell is made knows which of them is likelier.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.ground import Ground
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.exposure.sparse import as_cells, indicators, scaled, summed
from ppdm_flow.tables.column import SPECIALS

Ints = npt.NDArray[np.int64]


class Crowds:
    """The crowds of a ground with mixed columns. ``sizes`` and ``rows`` (crowds,): those in it, those who have it."""

    def __init__(self, ground: Ground) -> None:
        layout = ground.layout
        self.ground = ground
        self.crowd = ground.number(layout.grouping, layout.originals)
        self.part = ground.number(layout.grouping, layout.mixed)
        shape = int(self.crowd.max(initial=-1)) + 1, int(self.part.max(initial=-1)) + 1
        self._weights = summed(ground.rows, self.crowd, self.part, shape)
        self._there = indicators(self._weights)
        self._parts = np.bincount(self.part, ground.rows, shape[1])
        self.rows: Ints = np.rint(np.asarray(self._weights.sum(axis=1))).astype(np.int64)
        self.sizes: Ints = np.rint(self._there @ self._parts).astype(np.int64)

    def histograms(self, value: npt.NDArray[np.int32], names: Any) -> tuple[Histograms, Histograms]:
        """Return the histograms of the crowds, and the mean shares of their mixed cells, as of crowds of one row.

        ``value`` (combinations,) are codes into ``names``.
        """
        ground = self.ground
        dense = value.astype(np.int64) + SPECIALS
        shape = len(self._parts), len(names) + SPECIALS
        cells = summed(ground.rows, self.part, dense, shape)
        base = np.bincount(dense, ground.rows, shape[1]) / max(1, int(ground.rows.sum()))
        crowd = Histograms(as_cells(self._there @ cells), self.sizes, self.rows, base, names, ground.left_out)
        within = scaled(cells, 1.0 / np.maximum(self._parts, 1.0))
        mean = scaled(self._weights, 1.0 / np.maximum(self.rows, 1)) @ within
        ones = np.ones(len(self.rows))
        return crowd, Histograms(as_cells(mean), ones, self.rows, base, names, ground.left_out)
