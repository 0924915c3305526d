"""The kernel behind :mod:`ppdm_flow.audits.compatible`: sorted rows searched like a trie."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled, tolerant
from ppdm_flow.tables.column import MISSING


@compiled
def _end(cells: npt.NDArray[np.int32], value: np.int64 | np.int32, low: int, high: int) -> int:
    """Return the first place in the sorted ``cells[low:high]`` whose cell is greater than ``value``."""
    while low < high:
        middle = (low + high) // 2
        if cells[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@tolerant
@compiled
def sums(
    columns: npt.NDArray[np.int32], prefix: npt.NDArray[np.int64], children: int, out: npt.NDArray[np.int64]
) -> None:
    """Add up, for each row, the values of the rows that agree with it wherever neither is missing.

    ``columns`` (columns, rows) hold rows in lexicographic order, so those with a common beginning are a range, and a
    range splits into one range for each value of the next column. A known cell follows its own value and the missing
    one; a missing cell follows all. ``prefix`` (rows + 1, figures) are running sums, ``children`` bounds the ranges
    that wait at a time. The work is the number of beginnings that fit.
    """
    width, rows = columns.shape
    levels = np.empty(children, dtype=np.int64)
    lows = np.empty(children, dtype=np.int64)
    highs = np.empty(children, dtype=np.int64)
    for row in range(rows):
        depth = width  # all cells from here on are missing: every range fits as a whole
        while depth > 0 and columns[depth - 1, row] == MISSING:
            depth -= 1
        levels[0], lows[0], highs[0] = 0, 0, rows
        waiting = 1
        while waiting:
            waiting -= 1
            level, low, high = levels[waiting], lows[waiting], highs[waiting]
            if level == depth:
                for figure in range(out.shape[1]):
                    out[row, figure] += prefix[high, figure] - prefix[low, figure]
                continue
            cells = columns[level]
            value = cells[row]
            if value == MISSING:
                while low < high:
                    end = _end(cells, cells[low], low, high)
                    levels[waiting], lows[waiting], highs[waiting] = level + 1, low, end
                    waiting += 1
                    low = end
                continue
            for branch in range(2):
                wanted = np.int64(value) if branch else np.int64(MISSING)
                start = _end(cells, wanted - np.int64(1), low, high)
                end = _end(cells, wanted, start, high)
                if start < end:
                    levels[waiting], lows[waiting], highs[waiting] = level + 1, start, end
                    waiting += 1
