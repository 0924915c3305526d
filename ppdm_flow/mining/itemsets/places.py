"""Places: a position within a row for every item, such that no two items of one row share theirs.

In a table the place of an item is its column. For transactions places are given greedily; few of them keep the masks
of a row's cells short.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.kernels import allocating
from ppdm_flow.sdk.compiled import tolerant


@tolerant
@allocating
def first_fit(
    begin: npt.NDArray[np.int64], rows: npt.NDArray[np.int32], order: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int32]:
    """Give each item the lowest place that is free in all of its rows, in this order of items.

    The rows of item i are ``rows[begin[i]:begin[i + 1]]``, of ``count`` rows. Costs O(occurrences * places / 64).
    """
    taken = np.zeros((count, 1), dtype=np.uint64)
    place = np.zeros(len(begin) - 1, dtype=np.int32)
    for item in order:
        if begin[item] == begin[item + 1]:
            continue
        width = taken.shape[1]
        free = -1
        for w in range(width):
            used = np.uint64(0)
            for k in range(begin[item], begin[item + 1]):
                used |= taken[rows[k], w]
            if used != np.uint64(0xFFFFFFFFFFFFFFFF):
                free = 64 * w
                while used & np.uint64(1):
                    used >>= np.uint64(1)
                    free += 1
                break
        if free < 0:
            free = 64 * width
            wider = np.zeros((count, width + 1), dtype=np.uint64)
            wider[:, :width] = taken
            taken = wider
        place[item] = free
        bit = np.uint64(1) << np.uint64(free & 63)
        for k in range(begin[item], begin[item + 1]):
            taken[rows[k], free >> 6] |= bit
    return place
