"""Several classes as one, as they are once all their cells are suppressed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.grouping import Cells, Grouping
from ppdm_flow.mining.recoding.kernels import merged


def as_one(grouping: Grouping, which: npt.NDArray[np.intp]) -> Grouping:
    """Return a grouping of the single class that the classes ``which`` (at least one) make together."""
    sizes = np.array([grouping.sizes[which].sum()], dtype=np.int64)
    people = None if grouping.people is None else np.array([grouping.people[which].sum()], dtype=np.int64)
    cells = tuple(_together(c, which) for c in grouping.cells)
    return Grouping(grouping.node, grouping.first[which[:1]], sizes, cells, people)


def _together(cells: Cells, which: npt.NDArray[np.intp]) -> Cells:
    chosen = np.isin(cells.owner, which)
    value, count = cells.value[chosen], cells.count[chosen]
    begins = np.arange(len(value) + 1, dtype=np.int64)
    ids = np.zeros(len(value), dtype=np.int64)
    return Cells(*merged(begins, value, count, ids, 1, int(value.max(initial=0)) + 1))
