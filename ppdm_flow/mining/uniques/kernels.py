"""Counting rows that are alone under a combination of columns, on all rows or on a share of the combinations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.int64]


@compiled
def sampled(first: Codes, second: Codes, third: Codes, widths: Keys, bits: int) -> Keys:
    """Return the mixed-radix keys of those rows whose key hashes into one of 2^bits parts; 0 bits keep all.

    Rows of one combination are kept or left out together. ``widths`` are those of the second and third column.
    """
    n = len(first)
    out = np.empty(n, dtype=np.int64)
    found = 0
    for i in range(n):
        key = (np.int64(first[i]) * widths[0] + second[i]) * widths[1] + third[i]
        # Fibonacci hashing: the upper bits of a product with an odd constant
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        out[found] = key
        if bits == 0 or (mixed >> np.uint64(64 - bits)) == 0:
            found += 1
    return out[:found]


@compiled
def alone(keys: Keys) -> int:
    """Count the keys that occur once, by open addressing."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    mask = size - 1
    slots = np.full(size, -1, dtype=np.int64)
    again = np.zeros(size, dtype=np.bool_)
    single = 0
    for i in range(len(keys)):
        key = keys[i]
        h = key ^ (key >> 32)
        h = (h * -7046029254386353131) & 0x7FFFFFFFFFFFFFFF
        at = (h >> 20) & mask
        while slots[at] >= 0 and slots[at] != key:
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = key
            single += 1
        elif not again[at]:
            again[at] = True
            single -= 1
    return single
