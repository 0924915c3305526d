"""Pairing rows with similar ones of another area, as a loop over those that are to be swapped."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Integers = npt.NDArray[np.int64]


@compiled
def pair(
    partner: Integers, targets: Integers, layout: Integers, starts: Integers, group: Integers, area: Integers, most: int
) -> int:
    """Pair targets in their order, and return how many pairs were made, at most ``most``.

    ``partner`` of shape (rows,) holds -1 for rows that are free, and is changed. ``layout`` are all rows, class after
    class (``group``), each class in random order; class c begins at ``starts[c]`` and ends at ``starts[c + 1]``. A
    target that is free gets the first free row of its class that lies in another area. The head of a class is its first
    free row, its second the first free one of another area than the head's: one of both fits any target. Both only
    move forward, so that all steps together take time in proportion to the rows.
    """
    heads = starts[:-1].copy()
    seconds = starts[:-1].copy()
    pairs = 0
    for row in targets:
        if pairs >= most:
            break
        if partner[row] >= 0:
            continue
        own = group[row]
        end = starts[own + 1]
        head = heads[own]
        while head < end and partner[layout[head]] >= 0:
            head += 1
        heads[own] = head
        found = layout[head]  # the target is free, so a head there is
        if area[found] == area[row]:
            second = max(seconds[own], head)
            while second < end and (partner[layout[second]] >= 0 or area[layout[second]] == area[row]):
                second += 1
            seconds[own] = second
            if second == end:
                continue
            found = layout[second]
        partner[row] = found
        partner[found] = row
        pairs += 1
    return pairs
