"""A keyed hash of the rows of a table that does not depend on their order, nor on how they are coded."""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt
import pandas as pd

from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

Hashes = npt.NDArray[np.uint64]


class MultisetHash:
    """The sum, modulo 2^64, of one keyed 64-bit hash a row, and the number of rows.

    Cells are hashed by SipHash under ``key`` (16 characters, fresh for each run), once for each distinct text, and
    mixed with their column's place; a row's hash is the sum of its cells' (tabulation hashing), mixed under the key.
    Two tables with the same rows have the same sum; tables with other rows have it with a probability of about 2^-64.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._salt = self._texts(np.array(["row"], dtype=object))
        self.rows = 0
        self.total = 0

    @staticmethod
    def fresh_key() -> str:
        """Return a random key."""
        return secrets.token_hex(8)

    def look(self, table: Table) -> None:
        """Take in a partition."""
        hashes = np.zeros(len(table), dtype=np.uint64)
        for place, column in enumerate(table.columns.values()):
            hashes += self._cells(column, place)
        hashes = _mixed(_mixed(hashes, 0) ^ self._salt, 1)  # twice: sums of cells are not independent of each other
        self.rows += len(table)
        self.total = (self.total + int(hashes.sum(dtype=np.uint64))) % (1 << 64)

    @property
    def value(self) -> tuple[int, int]:
        """Rows and hash."""
        return self.rows, self.total

    def _cells(self, column: Column, place: int) -> Hashes:
        known = self._texts(column.categories.to_numpy(zero_copy_only=False).astype(object))
        special = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64) ^ self._salt
        cells: Hashes = _mixed(np.concatenate([known, special]), place + 2)[column.codes]
        return cells

    def _texts(self, texts: npt.NDArray[np.object_]) -> Hashes:
        found: Hashes = pd.util.hash_array(texts, hash_key=self._key, categorize=False)
        return found


def _mixed(hashes: Hashes, place: int) -> Hashes:
    """Mix the bits (the finalizer of SplitMix64), differently for each place."""
    with np.errstate(over="ignore"):
        mixed = hashes + np.uint64((0x9E3779B97F4A7C15 * (place + 1)) % (1 << 64))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
