"""The code length of each row: how likely it is under a code table, and how sure a dissimilarity of samples is."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.comparison.dissimilarity import LAPLACE, Encoded
from ppdm_flow.mining.itemsets.kernels import entry

Cells = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def row_bits(cells: Cells, code_table: Encoded, laplace: float = LAPLACE) -> Floats:
    """Return the bits of each row, shape (rows,), under the Laplace-corrected code table; fewer: more likely.

    ``cells`` (rows, places) are items of the code table's alphabet; an absent one is negative.
    """
    corrected = code_table.usages + laplace
    with np.errstate(divide="ignore"):
        bits = np.log2(corrected.sum()) - np.log2(corrected)
    sets = code_table.table.itemsets
    found = np.zeros(len(cells))
    left = np.zeros(cells.shape[1], dtype=np.uint8)
    _row_bits(cells, code_table.database.place, sets.offsets, sets.items, bits, left, found)
    return found


def interval(x: Encoded, y: Encoded, laplace: float = LAPLACE, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of (L(x|CT_y) - L(x|CT_x)) / L(x|CT_x) where x is a sample of rows, the code tables given.

    A ratio of two sums over rows: its variance by linearization (Cochran, "Sampling techniques", 1977, section 6.4).
    """
    weights = x.database.weights.astype(np.float64)
    own, other = row_bits(x.database.cells, x, laplace), row_bits(x.database.cells, y, laplace)
    total = float(weights @ own)
    if not total:
        return 0.0, 0.0
    ratio = float(weights @ other) / total
    reach = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(float(weights @ (other - ratio * own) ** 2)) / total
    return ratio - 1 - reach, ratio - 1 + reach


@entry
def _row_bits(
    cells: Cells, place: Cells, offsets: Counts, items: Cells, bits: Floats, left: npt.NDArray[np.uint8], out: Floats
) -> None:
    """Cover each row by the itemsets in their order, and what is left by singletons."""
    sets = len(offsets) - 1
    for row in range(cells.shape[0]):
        total = 0.0
        for p in range(cells.shape[1]):
            left[p] = cells[row, p] >= 0
        for s in range(sets):
            fits = True
            for i in range(offsets[s], offsets[s + 1]):
                p = place[items[i]]
                if cells[row, p] != items[i] or left[p] == 0:
                    fits = False
                    break
            if fits:
                total += bits[s]
                for i in range(offsets[s], offsets[s + 1]):
                    left[place[items[i]]] = 0
        for p in range(cells.shape[1]):
            if left[p]:
                total += bits[sets + cells[row, p]]
        out[row] = total
