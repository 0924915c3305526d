"""Expanding seeds: which of some items are in each randomized transaction.

Multiplying by a known x^j is linear over the bits of a coefficient, so that the values f(x) of 512 items are exclusive
ors of tabulated bit vectors, one for every four bits of the seed ("method of the four Russians"); they are compared
with the level a bit by bit. Lower bits of the value that no level depends on are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.database import popcount
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.mining.transactions.counting.seeded_field import BITS, product
from ppdm_flow.sdk.compiled import compiled

Items = npt.NDArray[np.int64]
Seeds = npt.NDArray[np.uint16]
Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]


# Bits of rows turned into bits of items: compiled.


TILE = 8
"""Words of a row that are turned together: 512 items."""

SPAN = 64 * TILE
"""Items of a tile."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpansionPoints:
    """``items`` at which seeds are expanded, and ``bits`` uint64 (tiles, width, 16, 16, TILE).

    Bit p of f(x) for the items x of a tile is the exclusive or of ``bits[tile, j, b, p]`` over the bits b of
    coefficient j that are set. What is behind the last item expands to something that is not looked at.
    """

    items: Items
    bits: Words

    @classmethod
    def of(cls, items: Items, width: int) -> ExpansionPoints:
        """Tabulate the powers 0 to ``width`` - 1 of ``items``."""
        tiles = -(-len(items) // SPAN)
        places = np.zeros(tiles * SPAN, dtype=np.uint16)
        places[: len(items)] = items
        units = (1 << np.arange(BITS)).astype(np.uint16)
        bits = np.empty((tiles, width, BITS, BITS, TILE), dtype=np.uint64)
        power = np.ones_like(places)
        for j in range(width):
            bits[:, j] = _planes(product(units[:, None], power[None, :]), tiles)
            power = product(power, places)
        return cls(items, bits)

    @property
    def tiles(self) -> int:
        """How many tiles there are."""
        return len(self.bits)


def _planes(values: npt.NDArray[np.uint16], tiles: int) -> Words:
    """Return the bits of ``values`` (16, tiles SPAN) as words, shape (tiles, 16, planes, TILE)."""
    out = np.empty((tiles, BITS, BITS, TILE), dtype=np.uint64)
    for p in range(BITS):
        packed = np.packbits((values >> np.uint16(p)) & np.uint16(1), axis=1, bitorder="little").view("<u8")
        out[:, :, p] = packed.reshape(BITS, tiles, TILE).swapaxes(0, 1)
    return out


def lowest_plane(level: int) -> int:
    """Return the lowest bit that decides whether a number is below ``level``: its lowest bit that is set."""
    return (level & -level).bit_length() - 1


@inlined
def _tabulate(bits: Words, terms: int, low: int, table: Words) -> None:
    """Fill ``table`` with what each value of four bits of coefficients 1 to ``terms`` - 1 adds to the planes.

    ``bits`` (width, 16, 16, TILE). Entry ((j - 1) 4 + h) 16 + v has (16 - low) TILE words.
    """
    span = (16 - low) * TILE
    for j in range(1, terms):
        for h in range(4):
            base = ((j - 1) * 4 + h) * 16 * span
            for i in range(span):
                table[base + i] = 0
            for v in range(1, 16):
                top = 3 if v >= 8 else (2 if v >= 4 else (1 if v >= 2 else 0))
                rest = base + (v - (1 << top)) * span
                entry = base + v * span
                for p in range(low, 16):
                    for w in range(TILE):
                        i = (p - low) * TILE + w
                        table[entry + i] = table[rest + i] ^ bits[j, 4 * h + top, p, w]


@inlined
def _expand(seed: Seeds, terms: int, level: int, low: int, table: Words, planes: Words, out: Words) -> None:
    """Write to ``out`` (TILE,) which items of the tile are in the expansion of one seed."""
    span = (16 - low) * TILE
    for p in range(low, 16):
        ones = np.uint64(0) - ((np.uint64(seed[0]) >> np.uint64(p)) & np.uint64(1))
        for w in range(TILE):
            planes[(p - low) * TILE + w] = ones
    for j in range(1, terms):
        value = np.int64(seed[j])
        base = (j - 1) * 64 * span
        a = base + (value & 15) * span
        b = base + (16 + ((value >> 4) & 15)) * span
        c = base + (32 + ((value >> 8) & 15)) * span
        d = base + (48 + (value >> 12)) * span
        for i in range(span):
            planes[i] ^= (table[a + i] ^ table[b + i]) ^ (table[c + i] ^ table[d + i])
    for w in range(TILE):
        out[w] = 0
    for p in range(low, 16):
        if (level >> p) & 1:
            for w in range(TILE):
                out[w] |= ~planes[(p - low) * TILE + w]
        else:
            for w in range(TILE):
                out[w] &= ~planes[(p - low) * TILE + w]


@compiled
def count_items(seeds: Seeds, rows: Places, terms: int, level: int, low: int, bits: Words, counts: Places) -> None:
    """Add to ``counts`` (64 TILE tiles,) in how many expansions of ``rows`` each item is.

    The first ``terms`` coefficients of a seed count. Items below ``level`` are in; no bit of it below ``low`` is set.
    """
    table = np.empty(max(1, terms - 1) * 64 * (16 - low) * TILE, dtype=np.uint64)
    planes = np.empty((16 - low) * TILE, dtype=np.uint64)
    block = np.empty((64, TILE), dtype=np.uint64)
    for tile in range(len(bits)):
        _tabulate(bits[tile], terms, low, table)
        for first in range(0, len(rows), 64):
            block[:] = 0
            for r in range(min(64, len(rows) - first)):
                _expand(seeds[rows[first + r]], terms, level, low, table, planes, block[r])
            transpose(block)
            tally(block, counts[tile * 64 * TILE : (tile + 1) * 64 * TILE])


@compiled
def columns_of_seeds(
    seeds: Seeds, rows: Places, terms: int, level: int, low: int, bits: Words, at: int, out: Words
) -> None:
    """Write the expansions of ``rows`` to words ``at`` on of ``out``, one line an item."""
    table = np.empty(max(1, terms - 1) * 64 * (16 - low) * TILE, dtype=np.uint64)
    planes = np.empty((16 - low) * TILE, dtype=np.uint64)
    block = np.empty((64, TILE), dtype=np.uint64)
    for tile in range(len(bits)):
        _tabulate(bits[tile], terms, low, table)
        for first in range(0, len(rows), 64):
            block[:] = 0
            for r in range(min(64, len(rows) - first)):
                _expand(seeds[rows[first + r]], terms, level, low, table, planes, block[r])
            transpose(block)
            store(block, at + (first >> 6), out[tile * 64 * TILE :])


@compiled
def rows_of_seeds(seeds: Seeds, rows: Places, terms: int, level: int, low: int, bits: Words, out: Words) -> None:
    """Write the expansions of ``rows`` to the same rows of ``out`` (all rows, words of a row)."""
    table = np.empty(max(1, terms - 1) * 64 * (16 - low) * TILE, dtype=np.uint64)
    planes = np.empty((16 - low) * TILE, dtype=np.uint64)
    tile_bits = np.empty(TILE, dtype=np.uint64)
    for tile in range(len(bits)):
        _tabulate(bits[tile], terms, low, table)
        for r in range(len(rows)):
            _expand(seeds[rows[r]], terms, level, low, table, planes, tile_bits)
            for w in range(min(TILE, out.shape[1] - tile * TILE)):
                out[rows[r], tile * TILE + w] = tile_bits[w]


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
