"""Distinct rows with their weights, kept as sorted fingerprints of 128 bits, equal for equal rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.mining.anonymity.levels import Level, exact
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts, weights_of
from ppdm_flow.tables.table import Table
from ppdm_flow.tables.text_hash import text_hashes

Integers = npt.NDArray[np.int64]

Words = npt.NDArray[np.uint64]

_SALTS = (b"ppdm-flow rows a", b"ppdm-flow rows b")
"""Keys of 16 bytes: one for each half."""

_STEP = 0x9E3779B97F4A7C15
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def fingerprints(columns: Sequence[Column], levels: Sequence[Level], rows: int) -> tuple[Words, Words]:
    """Return both halves of the fingerprints, shape (rows,) each.

    Each cell's text is hashed and mixed with the place of its column (splitmix64); a row's fingerprint is
    the sum over its cells. Two unlike rows among n have equal ones with a probability of about n^2 / 2^129: below
    10^-22 for 10 million. Missing and suppressed cells are values of their own. Memory: 16 bytes a row.
    """
    halves = [np.zeros(rows, dtype=np.uint64) for _ in _SALTS]
    for place, (column, level) in enumerate(zip(columns, levels, strict=True)):
        texts = level(column.categories)
        dense = column.dense
        for half, salt in zip(halves, _SALTS, strict=True):
            half += _of_cells(texts, salt, place)[dense]
    return halves[0], halves[1]


def _of_cells(texts: pa.StringArray, salt: bytes, place: int) -> Words:
    """Return a word for each dense code: suppressed, missing, then the texts."""
    words = np.arange(len(texts) + SPECIALS, dtype=np.uint64)
    words[SPECIALS:] = _mixed(text_hashes(texts, salt))
    return _mixed(words + np.uint64(_STEP * (place + 1) % (1 << 64)))


def _mixed(words: Words) -> Words:
    """Return splitmix64 of each word (Steele, Lea, Flood, OOPSLA 2014)."""
    words = (words ^ (words >> np.uint64(30))) * _MIX[0]
    words = (words ^ (words >> np.uint64(27))) * _MIX[1]
    return words ^ (words >> np.uint64(31))


@dataclass(frozen=True, slots=True, eq=False)
class RowTally:
    """``weights`` (n,) of the rows with fingerprints (``high``, ``low``), sorted by ``high``; each is there once."""

    high: Words
    low: Words
    weights: Integers

    def between(self, start: int, stop: int) -> RowTally:
        """Return the rows with ``start`` <= high < ``stop``; the latter may be 2^64."""
        begin = np.searchsorted(self.high, np.uint64(start))
        end = len(self.high) if stop >= 1 << 64 else np.searchsorted(self.high, np.uint64(stop))
        return RowTally(self.high[begin:end], self.low[begin:end], self.weights[begin:end])


def tallies(
    parts: Iterable[Table], columns: Sequence[str], levels: Sequence[Level], weight: str | None = None
) -> Iterator[RowTally]:
    """Yield the tally of each partition over ``columns``; rows of weight 0 are none. At most 24 bytes a row."""
    for part in parts:
        weights = np.ones(len(part), dtype=np.int64) if weight is None else weights_of(part[weight])
        yield tally(*fingerprints([part[c] for c in columns], levels, len(part)), weights)


def of_counts(counts: Counts, levels: Sequence[Level] | None = None) -> RowTally:
    """Return the tally of distinct combinations that were counted already."""
    columns = [Column(np.ascontiguousarray(counts.codes[:, i]), c) for i, c in enumerate(counts.categories)]
    chosen = [exact] * len(columns) if levels is None else levels
    return tally(*fingerprints(columns, chosen, len(counts)), counts.counts)


def tally(high: Words, low: Words, weights: Integers) -> RowTally:
    """Add up the weights of equal rows."""
    order, first = grouped(high, low)
    kept = np.add.reduceat(weights[order], first) if len(first) else np.zeros(0, dtype=np.int64)
    there = kept > 0
    rows = order[first][there]
    return RowTally(high[rows], low[rows], kept[there])


def grouped(high: Words, low: Words) -> tuple[Integers, Integers]:
    """Return an order that brings equal fingerprints together, and where in it each group begins."""
    order = np.argsort(high)
    new = _changes(high[order])
    if np.any(_changes(low[order]) & ~new):  # two rows share one half: sort by both
        order = np.lexsort((low, high))
        new = _changes(high[order]) | _changes(low[order])
    return order, np.flatnonzero(new)


def _changes(words: Words) -> npt.NDArray[np.bool_]:
    """Whether each word differs from the one before it; the first does."""
    new = np.ones(len(words), dtype=np.bool_)
    np.not_equal(words[1:], words[:-1], out=new[1:])
    return new
