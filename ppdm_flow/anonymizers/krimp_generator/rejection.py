"""Rows that must not be made: those of the original that are too rare in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.krimp_generator.cells import Raw
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import Counts

_KEY_LIMIT = 1 << 62

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Columns ``begin:end`` and the rank of the columns before them are one number, of radixes ``widths``.

    ``keys`` are the numbers that rows of the original have, ascending.
    """

    begin: int
    end: int
    widths: tuple[int, ...]
    keys: Raw

    def rank(self, cells: Sequence[Raw], before: Raw) -> tuple[Raw, Bools]:
        """Return the place of each row's number among the keys, and whether it is there."""
        numbers = _packed(cells[self.begin : self.end], self.widths, before)
        at = np.minimum(np.searchsorted(self.keys, numbers), len(self.keys) - 1)
        return at, self.keys[at] == numbers


@dataclass(frozen=True, slots=True, eq=False)
class RareRows:
    """The rows of the original with a support below a limit, and those that have it.

    ``safe`` (rows, attributes): codes of the original's rows that are frequent enough; ``reach`` (rows,): the running
    sum of their supports. ``categories`` are what the codes point into.
    """

    stages: tuple[Stage, ...]
    safe: npt.NDArray[np.int32]
    reach: Raw
    categories: tuple[pa.StringArray, ...]

    def hit(self, cells: Sequence[Raw]) -> Bools:
        """Return which rows, given column by column in the original's codes, are rare ones of the original."""
        rows = len(cells[0])
        if not self.stages:
            return np.zeros(rows, dtype=bool)
        alive: Bools = np.logical_and.reduce([c >= -SPECIALS for c in cells])
        rank = np.zeros(rows, dtype=np.int64)
        for stage in self.stages:
            rank, there = stage.rank(cells, rank)
            alive &= there
        return alive


@dataclass(frozen=True, slots=True, eq=False)
class Rejection:
    """Rows are compared cell by cell, and, where there are intervals, also with these in place of numbers."""

    exact: RareRows
    coarse: RareRows | None

    def hit(self, cells: Sequence[Raw], codes: npt.NDArray[np.int32]) -> Bools:
        """Return which rows are rare, from cells in the original's codes and ``codes`` (rows, attributes) of items."""
        rejected = self.exact.hit(cells)
        return rejected if self.coarse is None else rejected | self.coarse.hit(list(codes.T.astype(np.int64)))


def rejection(every: Counts, coded: Counts | None, limit: int) -> Rejection:
    """Look for rows with a support below ``limit``, in ``coded`` (with intervals) too where it is given.

    A row that is frequent enough cell by cell is so by intervals as well.
    """
    coarse = None if coded is None else rare(coded.project(coded.columns), limit)
    return Rejection(rare(every, limit), coarse)


def rare(counts: Counts, limit: int) -> RareRows:
    """Look for the rows of ``counts`` with a support below ``limit``."""
    few = (counts.counts > 0) & (counts.counts < limit)
    codes = counts.codes[few]
    stages: list[Stage] = []
    rank = np.zeros(len(codes), dtype=np.int64)
    ranks, begin = 1, 0
    widths = [len(c) + SPECIALS for c in counts.categories]
    while begin < len(widths) and len(codes):
        end, radix = begin, ranks
        while end < len(widths) and (end == begin or radix * widths[end] < _KEY_LIMIT):
            radix *= widths[end]
            end += 1
        here = tuple(widths[begin:end])
        keys, rank = np.unique(_packed(list(codes.T[begin:end]), here, rank), return_inverse=True)
        stages.append(Stage(begin, end, here, keys))
        ranks, begin = len(keys), end
    enough = counts.counts >= limit
    return RareRows(tuple(stages), counts.codes[enough], np.cumsum(counts.counts[enough]), counts.categories)


def _packed(columns: Sequence[npt.NDArray[np.integer]], widths: tuple[int, ...], before: Raw) -> Raw:
    numbers = before.astype(np.int64)
    for column, width in zip(columns, widths, strict=True):
        numbers = numbers * width + np.clip(column, -SPECIALS, None) + SPECIALS
    return numbers
