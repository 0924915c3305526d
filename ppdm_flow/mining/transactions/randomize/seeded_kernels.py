"""Finding seeds: compiled interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.kernels import allocating
from ppdm_flow.mining.transactions.counting.seeded_field import Elements, Logs, over, times
from ppdm_flow.mining.transactions.randomize.kernels import below, remaining, stays
from ppdm_flow.sdk.compiled import tolerant

Words = npt.NDArray[np.uint64]


@tolerant
@allocating
def interpolate(
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
    limits: Words,
    levels: npt.NDArray[np.int64],
    words: Words,
    spare: int,
    powers: Elements,
    logs: Logs,
    out: npt.NDArray[Any],
) -> None:
    """Write to ``out[r]`` the coefficients, constant first, of a polynomial that is right on the items of row r.

    Words of a row: one for j, one for each item to choose those that stay, one for each item's value, then 16 bits for
    each spare coefficient. ``limits`` are the laws of j, ``levels[m]`` how many values put an item in.
    """
    longest = limits.shape[0] - 1
    value = np.zeros(longest + 1, dtype=np.int64)
    for row in range(len(offsets) - 1):
        first = offsets[row]
        size = offsets[row + 1] - first
        level = levels[size]
        left = remaining(limits[size], words[row, 0])
        for i in range(size):
            word = words[row, 1 + longest + i]
            if stays(words[row, 1 + i], left, size - i):
                left -= 1
                value[i] = below(word, level)
            else:
                value[i] = level + below(word, (1 << 16) - level)
        for step in range(1, size):  # divided differences, in place
            for i in range(size - 1, step - 1, -1):
                run = np.int64(items[first + i]) ^ np.int64(items[first + i - step])
                value[i] = over(value[i] ^ value[i - 1], run, powers, logs)
        for s in range(spare):
            word = words[row, 1 + 2 * longest + (s >> 2)]
            out[row, s] = (word >> np.uint64(16 * (s & 3))) & np.uint64(0xFFFF)
        for i in range(size - 1, -1, -1):  # Horner: multiply by (x - item), add the difference
            item = np.int64(items[first + i])
            degree = spare + size - 1 - i
            for c in range(degree, 0, -1):
                lower = np.int64(out[row, c - 1])
                kept = times(np.int64(out[row, c]), item, powers, logs) if c < degree else np.int64(0)
                out[row, c] = lower ^ kept
            if degree > 0:
                out[row, 0] = times(np.int64(out[row, 0]), item, powers, logs)
            out[row, 0] ^= value[i]
