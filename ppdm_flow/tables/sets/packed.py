"""Sets of many items: one bit for every item of the alphabet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.sets.baskets import Baskets, Sizes, gathered, placed

Words = npt.NDArray[np.uint64]

WORD = 64
"""Bits of a word."""
UNKNOWN = -1
"""The size of a transaction of which it is not published."""
_CELLS = 1 << 24


def words_for(items: int) -> int:
    """Return how many words a row over ``items`` items takes."""
    return -(-items // WORD)


@dataclass(frozen=True, slots=True, eq=False)
class PackedSets:
    """Item i is in row r where bit ``i % 64`` (from the lowest) of ``words[r, i // 64]`` is set.

    ``words`` uint64 of shape (rows, ceil(items / 64)), bits beyond the alphabet 0. ``sizes`` int32 (rows,) are the
    sizes of the *original* transactions, -1 where they are not published. Raises ValueError where shapes do not fit.
    """

    words: Words
    sizes: Sizes
    categories: pa.StringArray

    def __post_init__(self) -> None:
        if self.words.shape != (len(self.sizes), words_for(len(self.categories))):
            raise ValueError("the words of packed sets do not fit their alphabet and sizes")

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.words.nbytes + self.sizes.nbytes + self.categories.nbytes)

    @classmethod
    def of(cls, baskets: Baskets, sizes: Sizes | None = None) -> PackedSets:
        """Pack sets; ``sizes`` are those of the sets themselves where not given."""
        width = words_for(len(baskets.categories))
        words = np.zeros((len(baskets), width), dtype=np.uint64)
        step = max(1, _CELLS // max(1, width * WORD))
        for start in range(0, len(baskets), step):
            piece = baskets.take(slice(start, start + step))
            cells = np.zeros((len(piece), width * WORD), dtype=np.uint8)
            cells[piece.rows(), piece.items] = 1
            words[start : start + step] = np.packbits(cells, axis=1, bitorder="little").view("<u8")
        return cls(words, baskets.sizes if sizes is None else sizes, baskets.categories)

    def baskets(self) -> Baskets:
        """Return the sets item by item: for few rows, or few items."""
        rows, items = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        step = max(1, _CELLS // max(1, self.words.shape[1] * WORD))
        for start in range(0, len(self), step):
            row, item = np.nonzero(self._bits(slice(start, start + step)))
            rows.append(row + start)
            items.append(item)
        return gathered(np.concatenate(rows), np.concatenate(items), len(self), self.categories)[0]

    def take(self, rows: npt.NDArray[Any] | slice) -> PackedSets:
        """Return the sets at ``rows``: positions, a boolean mask, or a slice."""
        return PackedSets(self.words[rows], self.sizes[rows], self.categories)

    def onto(self, categories: pa.StringArray) -> PackedSets:
        """Return the same sets over another alphabet. Raises KeyError if an item in use is not in it."""
        if self.categories.equals(categories):
            return self
        code_map = placed(self.categories, categories)
        used = self.in_use()
        if (used & (code_map < 0)).any():
            raise KeyError("an item in use is not in the given alphabet")
        stays = code_map >= 0
        width = words_for(len(categories))
        words = np.zeros((len(self), width), dtype=np.uint64)
        step = max(1, _CELLS // max(1, (self.words.shape[1] + width) * WORD))
        for start in range(0, len(self), step):
            old = self._bits(slice(start, start + step))
            cells = np.zeros((len(old), width * WORD), dtype=np.uint8)
            cells[:, code_map[stays]] = old[:, stays]
            words[start : start + step] = np.packbits(cells, axis=1, bitorder="little").view("<u8")
        return PackedSets(words, self.sizes, categories)

    def in_use(self) -> npt.NDArray[np.bool_]:
        """Which items occur, shape (len(categories),)."""
        some = np.bitwise_or.reduce(self.words, axis=0)
        used: npt.NDArray[np.bool_] = _unpacked(some[None, :], len(self.categories))[0].astype(bool)
        return used

    def compact(self) -> PackedSets:
        """Return the column as it is: a randomized set speaks of its whole alphabet, which is published with it."""
        return self

    def valid(self) -> bool:
        """Whether no bit beyond the alphabet is set, and sizes are -1 or more."""
        spare = self.words.shape[1] * WORD - len(self.categories)
        last = self.words[:, -1] >> np.uint64(WORD - spare) if spare and len(self) else np.zeros(0, dtype=np.uint64)
        return bool((self.sizes >= UNKNOWN).all()) and not last.any()

    def _bits(self, rows: slice) -> npt.NDArray[np.uint8]:
        return _unpacked(self.words[rows], len(self.categories))


def _unpacked(words: Words, items: int) -> npt.NDArray[np.uint8]:
    """Return 0 or 1 for each row and item."""
    octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=items, bitorder="little")
