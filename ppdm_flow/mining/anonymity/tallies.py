"""Distinct rows with their weights, kept as sorted fingerprints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.anonymity.fingerprints import Words, fingerprints
from ppdm_flow.mining.anonymity.levels import Level, exact
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts, weights_of
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """``weights`` (n,) of the rows with fingerprints (``high``, ``low``), sorted by ``high``; each is there once."""

    high: Words
    low: Words
    weights: Integers

    def between(self, start: int, stop: int) -> Tally:
        """Return the rows with ``start`` <= high < ``stop``; the latter may be 2^64."""
        begin = np.searchsorted(self.high, np.uint64(start))
        end = len(self.high) if stop >= 1 << 64 else np.searchsorted(self.high, np.uint64(stop))
        return Tally(self.high[begin:end], self.low[begin:end], self.weights[begin:end])


def tallies(
    parts: Iterable[Table], columns: Sequence[str], levels: Sequence[Level], weight: str | None = None
) -> Iterator[Tally]:
    """Yield the tally of each partition over ``columns``; rows of weight 0 are none. At most 24 bytes a row."""
    for part in parts:
        weights = np.ones(len(part), dtype=np.int64) if weight is None else weights_of(part[weight])
        yield tally(*fingerprints([part[c] for c in columns], levels, len(part)), weights)


def of_counts(counts: Counts, levels: Sequence[Level] | None = None) -> Tally:
    """Return the tally of distinct combinations that were counted already."""
    columns = [Column(np.ascontiguousarray(counts.codes[:, i]), c) for i, c in enumerate(counts.categories)]
    chosen = [exact] * len(columns) if levels is None else levels
    return tally(*fingerprints(columns, chosen, len(counts)), counts.counts)


def tally(high: Words, low: Words, weights: Integers) -> Tally:
    """Add up the weights of equal rows."""
    order, first = grouped(high, low)
    kept = np.add.reduceat(weights[order], first) if len(first) else np.zeros(0, dtype=np.int64)
    there = kept > 0
    rows = order[first][there]
    return Tally(high[rows], low[rows], kept[there])


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
