"""Rows that a generator did not learn from: the control group of attacks on generated data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.table import Table, concat

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True)
class Holdout:
    """About ``share`` (0 to 1, ends excluded) of the source's rows, chosen by a hash of their row numbers alone.

    Which rows these are is the same in every run and needs no secret: they take no part in what is released. The hash
    is the finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).

    Where people are counted, ``first`` (source rows,) is the number of the first row of the person whose row it is, and
    all rows of a person go where that one goes; -1 for a row of which nothing is known.

    >>> bool(Holdout(0.5).held_out(np.arange(10)).any())
    True
    """

    share: float
    first: npt.NDArray[np.int64] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise ValueError("a holdout's share lies strictly between 0 and 1")

    def held_out(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which of these source rows are held out, shape (len(rows),)."""
        chosen: npt.NDArray[np.bool_] = self.hashed(self._deciding(rows)) < np.uint64(int(self.share * 2.0**64))
        return chosen

    @staticmethod
    def hashed(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """Return the hashes of row numbers, shape (len(rows),), as good as evenly spread over 64 bits."""
        with np.errstate(over="ignore"):
            z: npt.NDArray[np.uint64] = rows.astype(np.uint64) * _GOLDEN + _GOLDEN
            z = (z ^ (z >> np.uint64(30))) * _MIX[0]
            z = (z ^ (z >> np.uint64(27))) * _MIX[1]
            z ^= z >> np.uint64(31)
        return z

    def _deciding(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the row by which it is decided where each of these rows goes."""
        if self.first is None or not len(self.first):
            return rows
        known = rows < len(self.first)
        first = self.first[np.where(known, rows, 0)]
        return np.where(known & (first >= 0), first, rows)

    def by_person(self, parts: Iterable[Table], subject: str) -> Holdout:
        """Return the same where all rows of a person go where the first of them goes.

        ``parts`` hold the column ``subject``, which says whose row it is. A person of whom some row is known to this
        holdout goes where that goes. A row that is nobody's goes by itself.
        """
        each = [part.select([subject]) for part in parts]
        if not each:
            return self
        table = concat(each)
        column = table[subject]
        some = column.codes >= 0
        rows, person = table.rows[some], column.codes[some].astype(np.int64)
        known = self._deciding(rows)
        own = np.full(int(person.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        decided = own.copy()
        np.minimum.at(own, person, rows)
        if self.first is not None and len(self.first):
            before = (rows < len(self.first)) & (self.first[np.minimum(rows, len(self.first) - 1)] >= 0)
            np.minimum.at(decided, person[before], known[before])
        first = np.full(int(rows.max(initial=-1)) + 1, -1, dtype=np.int64)
        first[rows] = np.where(decided < np.iinfo(np.int64).max, decided, own)[person]
        return Holdout(self.share, first)
