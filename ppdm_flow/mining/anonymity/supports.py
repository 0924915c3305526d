"""How often the rows of two tables occur in each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.anonymity.tallies import Integers, RowTally, grouped, of_counts
from ppdm_flow.tables.counts import Counts

_BUCKET = 1 << 21
"""Fingerprints that are put in order at a time, about."""


@dataclass(frozen=True, slots=True, eq=False)
class JointSupports:
    """``distinct`` (n,) rows have the support ``original`` (n,) in one table and ``released`` (n,) in the other.

    Sorted by the two supports, each pair of them once; 0 is no occurrence. It is small: the pairs of supports that
    occur are few, however many rows there are.
    """

    original: Integers
    released: Integers
    distinct: Integers

    @property
    def original_rows(self) -> int:
        """The rows of the original, by weight."""
        return int((self.original * self.distinct).sum())

    @property
    def released_rows(self) -> int:
        """The rows of the release, by weight."""
        return int((self.released * self.distinct).sum())


def joint_supports(original: Iterable[RowTally], released: Iterable[RowTally]) -> JointSupports:
    """Match two tables, each given by the tallies of its partitions over the same columns in the same order.

    Memory: 24 bytes for each distinct row of each partition, and some 100 MB to put them in order.
    """
    sides = [list(original), list(released)]
    size = sum(len(t.weights) for side in sides for t in side)
    buckets = 1 << max(0, (size // _BUCKET).bit_length())
    step = (1 << 64) // buckets
    parts = [_of_bucket(sides, i * step, (i + 1) * step) for i in range(buckets)]
    return _added(np.concatenate(parts))


def of_tables(original: Counts, released: Counts) -> JointSupports:
    """Match two tables that were counted over the same columns, in the same order."""
    return joint_supports([of_counts(original)], [of_counts(released)])


def _of_bucket(sides: list[list[RowTally]], start: int, stop: int) -> Integers:
    """Return (original, released, distinct) of the rows in one bucket, shape (n, 3)."""
    parts = [[t.between(start, stop) for t in side] for side in sides]
    every = [t for side in parts for t in side]
    if not sum(len(t.weights) for t in every):
        return np.zeros((0, 3), dtype=np.int64)
    order, first = grouped(np.concatenate([t.high for t in every]), np.concatenate([t.low for t in every]))
    weights = np.concatenate([t.weights for t in every])
    split = sum(len(t.weights) for t in parts[0])
    both = np.zeros((len(weights), 2), dtype=np.int64)
    both[:split, 0] = weights[:split]
    both[split:, 1] = weights[split:]
    supports = np.add.reduceat(both[order], first, axis=0)
    return _pairs(np.column_stack([supports, np.ones(len(supports), dtype=np.int64)]))


def _pairs(rows: Integers) -> Integers:
    """Add up ``distinct`` of equal (original, released)."""
    order = np.lexsort((rows[:, 1], rows[:, 0]))
    ordered = rows[order]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = (ordered[1:, :2] != ordered[:-1, :2]).any(axis=1)
    first = np.flatnonzero(new)
    return np.column_stack([ordered[first, :2], np.add.reduceat(ordered[:, 2], first)])


def _added(rows: Integers) -> JointSupports:
    pairs = _pairs(rows) if len(rows) else rows
    return JointSupports(pairs[:, 0], pairs[:, 1], pairs[:, 2])
