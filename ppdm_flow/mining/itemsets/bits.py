"""Packed bit vectors: rows as bits of 64-bit words, counted by the processor's own instruction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.sdk.compiled import Instruction, compiled

Words = npt.NDArray[np.uint64]

WORD = 64
ABSENT = -1
"""The cell of a row that has no item in a place."""


def _ones(word: np.uint64) -> np.uint64:
    return np.uint64(int(word).bit_count())


def _trailing(word: np.uint64) -> np.uint64:
    return np.uint64((int(word) & -int(word)).bit_length() - 1)


popcount = Instruction(_ones, "ctpop")
"""The number of ones in a word: LLVM vectorizes it where the processor can."""
lowest = Instruction(_trailing, "cttz")
"""The position of the lowest one in a word that has one."""


def words_for(rows: int) -> int:
    """How many words hold a bit for each of ``rows``."""
    return -(-rows // WORD)


@compiled
def occurrences(cells: npt.NDArray[np.int32], line: npt.NDArray[np.int32], out: Words) -> None:
    """Set bit r of ``out[line[i]]``, all zero before, for each item i in row r of ``cells``.

    Items whose line is negative have none; those of a row have different lines.
    """
    for row in range(cells.shape[0]):
        word = row >> 6
        bit = np.uint64(1) << np.uint64(row & 63)
        for place in range(cells.shape[1]):
            item = cells[row, place]
            if item >= 0 and line[item] >= 0:
                out[line[item], word] |= bit


@compiled
def scatter(begin: npt.NDArray[np.int64], lines: npt.NDArray[np.int32], out: Words) -> None:
    """Set bit r of ``out[i]``, all zero before, for each i of ``lines[begin[r]:begin[r + 1]]``, which are distinct."""
    for row in range(len(begin) - 1):
        bit = np.uint64(1) << np.uint64(row & 63)
        for k in range(begin[row], begin[row + 1]):
            out[lines[k], row >> 6] |= bit


@inlined
def intersect_only(a: Words, b: Words, out: Words) -> None:
    """Write ``a & b`` to ``out``."""
    for w in range(len(a)):
        out[w] = a[w] & b[w]


@inlined
def common(a: Words, b: Words) -> int:
    """How many bits are set in both."""
    total = np.uint64(0)
    for w in range(len(a)):
        total += popcount(a[w] & b[w])
    return np.int64(total)  # type: ignore[return-value]  # numba's int


@inlined
def weight_common(a: Words, b: Words, planes: Words, ends: npt.NDArray[np.int64]) -> int:
    """The weight of the rows in both: bit p of a row's weight is its bit in ``planes[p]``, zero from ``ends[p]`` on.

    Rows come heaviest first, so high planes are short.
    """
    total = np.int64(0)
    for p in range(len(planes)):
        count = np.uint64(0)
        plane = planes[p]
        for w in range(ends[p]):
            count += popcount(a[w] & b[w] & plane[w])
        total += np.int64(count) << p
    return total  # type: ignore[return-value]  # numba's int


@inlined
def within(a: Words, b: Words) -> bool:
    """Whether all bits of ``a`` are set in ``b``."""
    for first in range(0, len(a), 8):
        rest = np.uint64(0)
        for w in range(first, min(first + 8, len(a))):
            rest |= a[w] & ~b[w]
        if rest:
            return False
    return True


def weight_planes(weights: npt.NDArray[np.int64]) -> tuple[Words, npt.NDArray[np.int64]]:
    """Split weights, heaviest first, into the planes that :func:`weight_common` reads, and where each one ends."""
    depth = max(1, int(weights.max(initial=1)).bit_length())
    planes = np.zeros((depth, words_for(len(weights))), dtype=np.uint64)
    for p in range(depth):
        ones = np.flatnonzero((weights >> p) & 1)
        np.bitwise_or.at(planes[p], ones >> 6, np.uint64(1) << (ones & 63).astype(np.uint64))
    ends = np.array([int(np.flatnonzero(plane)[-1]) + 1 if plane.any() else 0 for plane in planes], dtype=np.int64)
    return planes, ends
