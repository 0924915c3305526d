"""A keyed hash of the rows of a table that does not depend on their order, nor on how they are coded."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import Baskets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table
from ppdm_flow.tables.text_hash import text_hashes

Hashes = npt.NDArray[np.uint64]

_ROWS = 1 << 12
_STRETCH = 1 << 17
"""Rows whose hashes stay in the cache."""
_COMBINATIONS = 1 << 12
_MISSING_BITS = 0xC2B2AE3D27D4EB4F


class MultisetHash:
    """The sum, modulo 2^64, of one keyed 64-bit hash a row, and the number of rows.

    Texts are hashed under ``key`` (16 characters, fresh for each run), once for each distinct one, numbers by their
    bits, and mixed with their column's place; a row's hash is the sum of its cells' (tabulation hashing), mixed under
    the key. Two tables with the same rows have the same sum; tables with other rows have it with a probability of about
    2^-64.
    """

    def __init__(self, key: str) -> None:
        self._key = key.encode()
        self._last: dict[int, tuple[pa.StringArray, Hashes]] = {}
        self._salt = self._texts(pa.array(["row"]))
        self.rows = 0
        self.total = 0

    @staticmethod
    def fresh_key() -> str:
        """Return a random key."""
        return secrets.token_hex(8)

    def look(self, table: Table) -> None:
        """Take in a partition."""
        hashes = _mixed(_mixed(self.of_rows(table), 0) ^ self._salt, 1)  # twice: sums of cells are not independent
        self.rows += len(table)
        self.total = (self.total + int(hashes.sum(dtype=np.uint64))) % (1 << 64)

    def unseen(self) -> MultisetHash:
        """Return one under the same key that has seen nothing."""
        other = copy(self)
        other.rows = other.total = 0
        return other

    def add(self, later: MultisetHash) -> None:
        """Take in the rows that another one saw under the same key."""
        self.rows += later.rows
        self.total = (self.total + later.total) % (1 << 64)

    def of_rows(self, table: Table) -> Hashes:
        """Return a hash of each row (rows,): equal cells in as many columns give equal ones."""
        hashes = np.zeros(len(table), dtype=np.uint64)
        for place, column in enumerate(table.columns.values()):
            if isinstance(column, NumericColumn):
                hashes += self._numbers(column, place)
        for columns, sums in self._alphabets(table):
            for start in range(0, len(table), _STRETCH):
                hashes[start : start + _STRETCH] += sums.take(_places(columns, start))
        for place, sets in enumerate(table.sets.values(), len(table.columns)):
            hashes += _mixed(self._sets(sets) ^ self._salt, place + 2)
        return hashes

    @property
    def value(self) -> tuple[int, int]:
        """Rows and hash."""
        return self.rows, self.total

    def _alphabets(self, table: Table) -> Iterator[tuple[Sequence[Column], Hashes]]:
        """Yield columns of texts, several at once where these are few, with the sums of their cells' hashes.

        What is in the rows of such columns is one place in a table then, and not one for each of them.
        """
        columns: list[Column] = []
        sums = np.zeros(1, dtype=np.uint64)
        for place, column in enumerate(table.columns.values()):
            if isinstance(column, NumericColumn):
                continue
            if columns and len(sums) * column.width > _COMBINATIONS:
                yield columns, sums
                columns, sums = [], np.zeros(1, dtype=np.uint64)
            columns.append(column)
            sums = np.add.outer(sums, self._alphabet(column, place)).ravel()
        if columns:
            yield columns, sums

    def _alphabet(self, column: Column, place: int) -> Hashes:
        """Return the hash of each dense code."""
        known = self._categories(column.categories, place)
        special = np.array([0x9E3779B97F4A7C15, _MISSING_BITS], dtype=np.uint64) ^ self._salt
        return _mixed(np.concatenate([special, known]), place + 2)

    def _numbers(self, column: NumericColumn, place: int) -> Hashes:
        """Hash numbers by their bits, mixed twice under the key: no text is made of them."""
        cells = _mixed(_mixed(column.values.view(np.uint64) ^ self._salt, 1) ^ self._salt, place + 2)
        if column.missing is not None:
            cells[column.missing] = _mixed(np.array([_MISSING_BITS], dtype=np.uint64) ^ self._salt, place + 2)
        return cells

    def _sets(self, column: SetColumn) -> Hashes:
        """Hash sets: baskets by the sum of their items' hashes, packed rows by a random linear form of their halves.

        A linear form over 32-bit halves with random 64-bit factors tells two rows apart up to a chance of 2^-33.
        """
        alphabet = self._texts(column.categories)
        if isinstance(column, Baskets):
            sums = np.zeros(len(column.items) + 1, dtype=np.uint64)
            np.cumsum(_mixed(alphabet, 0)[column.items], out=sums[1:])
            return _mixed(sums[column.offsets[1:]] - sums[column.offsets[:-1]], 1)
        places = 2 * np.arange(len(alphabet), dtype=np.uint64) + np.uint64(1)
        known = column.sizes.astype(np.int64).view(np.uint64) ^ (_mixed(alphabet, 0) * places).sum(dtype=np.uint64)
        if isinstance(column, SeededSets):
            return _mixed(_mixed(self._form(column.seeds), 2) ^ known, 3)
        return _mixed(_mixed(self._form(np.ascontiguousarray(column.words).view(np.uint32)), 2) ^ known, 3)

    def _form(self, halves: npt.NDArray[np.unsignedinteger]) -> Hashes:
        factors = self._texts(pa.array([f"half {i}" for i in range(halves.shape[1])], pa.string()))
        hashes = np.zeros(len(halves), dtype=np.uint64)
        for start in range(0, len(halves), _ROWS):
            hashes[start : start + _ROWS] = halves[start : start + _ROWS].astype(np.uint64) @ factors
        return hashes

    def _categories(self, categories: pa.StringArray, place: int) -> Hashes:
        """Hash the texts of a column; partitions often have the same ones as the partition before."""
        last, hashes = self._last.get(place, (None, None))
        if hashes is None or not categories.equals(last):
            hashes = self._texts(categories)
            self._last[place] = categories, hashes
        return hashes

    def _texts(self, texts: pa.StringArray) -> Hashes:
        return text_hashes(texts, self._key)


def _places(columns: Sequence[Column], start: int) -> npt.NDArray[np.int32]:
    """Return the place of each row's cells among all combinations of dense codes, for a stretch of rows."""
    stretch = slice(start, start + _STRETCH)
    places, shift = columns[0].codes[stretch], SPECIALS  # what makes codes dense is added once, and last
    for column in columns[1:]:
        places = places * np.int32(column.width)
        places += column.codes[stretch]
        shift = shift * column.width + SPECIALS
    return places + np.int32(shift)


def _mixed(hashes: Hashes, place: int) -> Hashes:
    """Mix the bits (the finalizer of SplitMix64), differently for each place."""
    with np.errstate(over="ignore"):
        mixed = hashes + np.uint64((0x9E3779B97F4A7C15 * (place + 1)) % (1 << 64))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
