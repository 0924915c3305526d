"""How strongly two columns go together: Cramér's V.

V = sqrt(chi-square / (n (min(r, c) - 1))), in [0, 1] (Cramér 1946, section 21.9), with missing and suppressed cells as
values of their own. A column with one value goes together with nothing: V = 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


def cramers_v(left: Codes, right: Codes, weights: Floats) -> float:
    """Return V of two columns of codes from 0, shape (rows,), with row weights."""
    rows, columns = _sums(left, weights), _sums(right, weights)
    total = weights.sum()
    smaller = min(int((rows > 0).sum()), int((columns > 0).sum())) - 1
    if smaller < 1 or total <= 0:
        return 0.0
    keys = left.astype(np.int64) * len(columns) + right
    if len(rows) * len(columns) <= 4 * len(keys) + 1024:
        joint = _sums(keys, weights)
        cells = np.flatnonzero(joint)
        joint = joint[cells]
    else:
        cells, place = np.unique(keys, return_inverse=True)
        joint = _sums(place, weights)
        cells, joint = cells[joint > 0], joint[joint > 0]
    expected = rows[cells // len(columns)] * columns[cells % len(columns)]
    inertia = float((joint * joint / expected).sum()) - 1.0  # chi-square / n
    return float(np.sqrt(min(1.0, max(0.0, inertia) / smaller)))


def associations(table: Table, columns: list[str], weight: str | None) -> Floats:
    """Return V of each two columns, shape (columns, columns), 1 on the diagonal."""
    counts = count(table, columns, weight)  # equal rows once: 190 pairs are looked at
    weights = counts.counts.astype(np.float64)
    dense = [np.unique(counts.of(c), return_inverse=True)[1].astype(np.int32) for c in columns]
    matrix = np.eye(len(columns))
    for i, left in enumerate(dense):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = cramers_v(left, dense[j], weights)
    return matrix


def _sums(place: npt.NDArray[np.int64] | Codes, weights: Floats) -> Floats:
    return np.bincount(place, weights=weights).astype(np.float64)
