"""Expanding seeds: which of some items are in each randomized transaction.

Multiplying by a known x^j is linear over the bits of a coefficient, so that the values f(x) of 512 items are exclusive
ors of tabulated bit vectors, one for every four bits of the seed ("method of the four Russians"); they are compared
with the level a bit by bit. Lower bits of the value that no level depends on are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.counting.seeded_field import BITS, product
from ppdm_flow.mining.transactions.counting.vertical_kernels import TILE

Words = npt.NDArray[np.uint64]
Items = npt.NDArray[np.int64]

SPAN = 64 * TILE
"""Items of a tile."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """``items`` at which seeds are expanded, and ``bits`` uint64 (tiles, width, 16, 16, TILE).

    Bit p of f(x) for the items x of a tile is the exclusive or of ``bits[tile, j, b, p]`` over the bits b of
    coefficient j that are set. What is behind the last item expands to something that is not looked at.
    """

    items: Items
    bits: Words

    @classmethod
    def of(cls, items: Items, width: int) -> Points:
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
