"""Bits of rows turned into bits of items: compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.bits import popcount
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.sdk.compiled import compiled

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

TILE = 8
"""Words of a row that are turned together: 512 items."""


@inlined
def transpose(block: Words) -> None:
    """Transpose TILE matrices of 64 x 64 bits at once: ``block`` (64, TILE), bit c of row r and bit r of row c swap.

    Warren, "Hacker's Delight" (2nd edition), section 7-3.
    """
    mask = np.uint64(0x00000000FFFFFFFF)
    j = 32
    while j:
        shift = np.uint64(j)
        k = 0
        while k < 64:
            for w in range(TILE):
                swap = ((block[k, w] >> shift) ^ block[k + j, w]) & mask
                block[k, w] ^= swap << shift
                block[k + j, w] ^= swap
            k = ((k | j) + 1) & ~j
        j >>= 1
        mask ^= mask << np.uint64(j)


@inlined
def tally(block: Words, counts: Places) -> None:
    """Add how many bits each transposed row of ``block`` has to ``counts`` (64 TILE,)."""
    for c in range(64):
        for w in range(TILE):
            counts[w * 64 + c] += np.int64(popcount(block[c, w]))


@inlined
def store(block: Words, at: int, out: Words) -> None:
    """Write the transposed rows of ``block`` to word ``at`` of the lines of ``out``, as many as there are."""
    for w in range(TILE):
        for c in range(min(64, len(out) - 64 * w)):
            out[w * 64 + c, at] = block[c, w]


@compiled
def columns_of_bits(
    words: Words, rows: Places, at: int, lines: Places, spots: Places, block: Words, out: Words
) -> None:
    """Write the bits of ``rows`` of packed sets to words ``at`` on of lines of ``out``.

    ``lines`` (k, TILE) are the words of a row to look at, -1 for none; ``spots`` (64 k TILE,) for each bit of them the
    line of ``out``, -1 for none. ``block`` (64, TILE) is overwritten: to compile that it is made takes 0.1 s.
    """
    for tile in range(len(lines)):
        for first in range(0, len(rows), 64):
            for r in range(64):
                for w in range(TILE):
                    there = first + r < len(rows) and lines[tile, w] >= 0
                    block[r, w] = words[rows[first + r], lines[tile, w]] if there else np.uint64(0)
            transpose(block)
            for w in range(TILE):
                for c in range(64):
                    line = spots[(tile * TILE + w) * 64 + c]
                    if line >= 0:
                        out[line, at + (first >> 6)] = block[c, w]


@compiled
def columns_of_items(
    offsets: Places, items: npt.NDArray[np.int32], rows: Places, at: int, line: Places, out: Words
) -> None:
    """Set the bits of ``rows`` of baskets in words ``at`` on of lines of ``out``: ``line[item]``, -1 for none."""
    for r in range(len(rows)):
        bit = np.uint64(1) << np.uint64(r & 63)
        for i in range(offsets[rows[r]], offsets[rows[r] + 1]):
            if line[items[i]] >= 0:
                out[line[items[i]], at + (r >> 6)] |= bit
