"""Lines of numbers, byte by byte: compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

NOTHING, STRANGE, NEGATIVE, TOO_LONG, NUL, LONE_RETURN = 0, 1, 2, 3, 4, 5
"""What may be wrong with a byte."""

_DIGITS = 18
_SHORT = 48


@compiled
def numbers(
    octets: npt.NDArray[np.uint8], items: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64]
) -> tuple[int, int]:
    """Fill ``items`` and ``offsets`` (from 0, one more than lines). Return what is wrong, and at which byte.

    ``items`` needs room for (bytes + 1) / 2 numbers. Every line must end with a line feed.
    """
    count = rows = digits = 0
    value = np.int64(0)
    offsets[0] = 0
    for i in range(len(octets)):
        octet = octets[i]
        if 48 <= octet <= 57:
            digits += 1
            if digits > _DIGITS:
                return TOO_LONG, i
            value = value * 10 + np.int64(octet - 48)
            continue
        if octet not in (32, 10, 9, 13):
            if octet == 0:
                return NUL, i
            return (NEGATIVE if octet == 45 else STRANGE), i
        if octet == 13 and octets[i + 1] != 10:
            return LONE_RETURN, i
        if digits:
            items[count] = value
            count += 1
            value = np.int64(0)
            digits = 0
        if octet == 10:
            rows += 1
            offsets[rows] = count
    return NOTHING, count


@compiled
def sort_rows(offsets: npt.NDArray[np.int64], items: npt.NDArray[np.int32]) -> int:
    """Sort the items of each row in place, and return how many of them stand in their row a second time."""
    repeated = 0
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        if end - begin > _SHORT:
            items[begin:end] = np.sort(items[begin:end])
        else:
            for i in range(begin + 1, end):
                item = items[i]
                j = i - 1
                while j >= begin and items[j] > item:
                    items[j + 1] = items[j]
                    j -= 1
                items[j + 1] = item
        for i in range(begin + 1, end):
            repeated += items[i] == items[i - 1]
    return repeated
