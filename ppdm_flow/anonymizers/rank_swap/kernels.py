"""Rank swapping as a loop over ranks, with a pool of those that are free."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled


@compiled
def partners(uniform: npt.NDArray[np.float64], reach: int) -> npt.NDArray[np.int64]:
    """Return the rank that each rank changes places with, shape (n,); its own where none was free.

    From the lowest rank i on: one that is still free takes a partner among the free ranks i + 1 to i + ``reach``, each
    with the same probability (Moore, Controlled data-swapping techniques for masking public use microdata sets, 1996).
    The free ones stand in a pool in no order, so that a step takes constant time; ``uniform`` of shape (n,) picks.
    """
    size = len(uniform)
    other = np.arange(size)
    pool = np.empty(size, dtype=np.int64)
    place = np.full(size, -1)
    free = 0
    entered = 1
    for i in range(size):
        while entered < size and entered <= i + reach:
            pool[free] = entered
            place[entered] = free
            free += 1
            entered += 1
        if i > 0:
            if place[i] < 0:  # a lower rank has it
                continue
            free -= 1
            last = pool[free]
            pool[place[i]] = last
            place[last] = place[i]
            place[i] = -1
        if free == 0:
            continue
        picked = min(free - 1, int(uniform[i] * free))
        j = pool[picked]
        free -= 1
        last = pool[free]
        pool[picked] = last
        place[last] = picked
        place[j] = -1
        other[i] = j
        other[j] = i
    return other
