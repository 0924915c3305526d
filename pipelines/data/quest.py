"""Synthetic transactions with associations in them: the generator of the Quest project.

Agrawal, Srikant, "Fast algorithms for mining association rules", VLDB 1994, section 4.1.1 (synthetic data generation).
Transactions are put together from patterns, which recur with weights that fall off exponentially, share items with each
other, and occur corrupted. Different here: items have popularities that fall off as a power of their rank, lengths are
bounded, and a pattern that does not fit is left out in half of the cases, not kept for the next transaction, so that
blocks of rows do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import gammaln

from ppdm_flow.tables.sets import Baskets

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

BLOCK = 1 << 16
"""Rows that are made from one stream of random numbers: part of what a key stands for."""


@dataclass(frozen=True, slots=True)
class Quest:
    """What data to make.

    Attributes
    ----------
    rows, items : number of transactions and size of the alphabet
    length, longest : mean of the Poisson law of a transaction's intended size, and the largest size
    patterns, pattern_length : how many there are, and their mean size; 1 at least
    correlation : mean share of a pattern's items that come from the one before
    corruption : mean probability of losing one more item when a pattern occurs
    popularity : items are chosen with probability proportional to rank^-popularity; 0 is uniform, as in the paper
    weight : pattern weights are exponential variables to this power; 1 in the paper
    """

    rows: int
    items: int
    length: float
    longest: int
    patterns: int
    pattern_length: float
    correlation: float = 0.5
    corruption: float = 0.5
    popularity: float = 0.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        if min(self.rows, self.patterns, self.longest) < 1 or self.items < self.longest:
            raise ValueError("Quest data need rows, patterns, and as many items as the longest transaction has")
        if not (self.length > 0.0 and self.pattern_length >= 1.0 and 0.0 <= self.correlation < 1.0):
            raise ValueError("a mean length, pattern length or correlation of Quest data is out of range")
        if not 0.0 < self.corruption < 1.0:
            raise ValueError("the corruption of Quest data is not between 0 and 1")


MAILORDER = Quest(
    2_900_000, 96, length=2.0, longest=7, patterns=150, pattern_length=1.6, correlation=0.4, popularity=0.5, weight=1.3
)
"""Of the size of the mailorder data of Evfimievski et al.; with key 263 it has 65, 256 and 22 itemsets above 0.2 %.

As in the paper no item is near 0.2 %: none has between 0.15 % and 0.25 %.
"""
SOCCER = Quest(
    rows=6_500_000,
    items=11_000,
    length=2.0,
    longest=10,
    patterns=1200,
    pattern_length=2.0,
    correlation=0.8,
    popularity=0.85,
    weight=1.8,
)
"""Of the size of the soccer data of Evfimievski et al.; with key 693 it has 293, 195 and 44 itemsets above 0.2 %."""


@dataclass(frozen=True, slots=True, eq=False)
class _Patterns:
    """``items`` (patterns, longest) padded with -1, ``lengths``, cumulative ``weights`` and ``corruption`` of each."""

    items: Integers
    lengths: Integers
    weights: Floats
    corruption: Floats


def quest(wanted: Quest, key: int) -> Iterator[Baskets]:
    """Yield the data in blocks of 65,536 rows; the same for the same ``key``, a number from 0."""
    patterns = _patterns(wanted, np.random.Generator(np.random.PCG64([key, 0])))
    names = pa.array([f"{i:0{len(str(wanted.items - 1))}d}" for i in range(wanted.items)], pa.string())
    sizes = _poisson(wanted.length, wanted.longest)
    for block, start in enumerate(range(0, wanted.rows, BLOCK)):
        rng = np.random.Generator(np.random.PCG64([key, 1, block]))
        cells = _cells(wanted, patterns, sizes, rng)[: wanted.rows - start]
        present = cells >= 0
        offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64)
        yield Baskets(offsets, cells[present].astype(np.int32), names)


def _poisson(mean: float, longest: int, least: int = 1) -> Floats:
    """Return the cumulative law of a Poisson variable that is within ``least`` and ``longest``."""
    number = np.arange(least, longest + 1)
    law = np.exp(number * np.log(mean) - gammaln(number + 1.0))
    cumulative: Floats = np.cumsum(law) / law.sum()
    return cumulative


def _drawn(cumulative: Floats, rng: np.random.Generator, shape: tuple[int, ...]) -> Integers:
    return np.minimum(np.searchsorted(cumulative, rng.random(shape), side="right"), len(cumulative) - 1)


def _patterns(wanted: Quest, rng: np.random.Generator) -> _Patterns:
    count, longest = wanted.patterns, wanted.longest
    lengths = _drawn(_poisson(wanted.pattern_length - 1.0 + 1e-9, longest - 1, 0), rng, (count,)) + 1
    popular = np.arange(1, wanted.items + 1) ** -wanted.popularity
    law = np.cumsum(popular) / popular.sum()
    items = np.full((count, longest), -1, dtype=np.int64)
    for p in range(count):
        before = items[p - 1][items[p - 1] >= 0] if p else np.zeros(0, dtype=np.int64)
        share = min(1.0, -wanted.correlation * np.log1p(-rng.random()))
        shared = min(round(share * float(lengths[p])), len(before))
        chosen = set(before[np.argsort(rng.random(len(before)))[:shared]].tolist())
        while len(chosen) < lengths[p]:
            chosen.add(int(_drawn(law, rng, (1,))[0]))
        items[p, : lengths[p]] = sorted(chosen)
    heavy = (-np.log1p(-rng.random(count))) ** wanted.weight
    corruption = np.clip(wanted.corruption + 0.1 * _normal(rng, count), 0.01, 0.99)
    return _Patterns(items, lengths, np.cumsum(heavy) / heavy.sum(), corruption)


def _normal(rng: np.random.Generator, count: int) -> Floats:
    """Box and Muller: numpy promises the same uniform numbers in every version, not the same normal ones."""
    radius: Floats = np.sqrt(-2.0 * np.log1p(-rng.random(count)))
    return radius * np.cos(2.0 * np.pi * rng.random(count))


def _cells(wanted: Quest, patterns: _Patterns, sizes: Floats, rng: np.random.Generator) -> Integers:
    """Return one block, (BLOCK, cells): each row's items ascending, -1 elsewhere."""
    size = _drawn(sizes, rng, (BLOCK,)) + 1
    picks = max(3, wanted.longest)
    pick = _drawn(patterns.weights, rng, (BLOCK, picks))
    lost = np.floor(np.log1p(-rng.random((BLOCK, picks))) / np.log(patterns.corruption[pick]))
    left = np.maximum(patterns.lengths[pick] - lost, 0).astype(np.int64)
    after = np.cumsum(left, axis=1)
    fits = (after <= size[:, None]) | (rng.random((BLOCK, picks)) < 0.5)
    taken = np.logical_and.accumulate(fits & (after - left < size[:, None]), axis=1)
    taken &= left > 0
    row, place = np.nonzero(taken)
    held = patterns.items[pick[row, place]]
    order = np.where(held >= 0, rng.random(held.shape), 2.0)
    rank = np.argsort(np.argsort(order, axis=1), axis=1)
    chosen = rank < left[row, place][:, None]
    return _rows(np.repeat(row, chosen.sum(axis=1)), held[chosen], wanted, patterns, pick[:, 0], rng)


def _rows(
    row: Integers, item: Integers, wanted: Quest, patterns: _Patterns, spare: Integers, rng: np.random.Generator
) -> Integers:
    """Return the block's rows from pairs (row, item): distinct, at most ``longest``, the first of ``spare`` if none."""
    empty = np.setdiff1d(np.arange(BLOCK), row)
    keys = np.concatenate([row * wanted.items + item, empty * wanted.items + patterns.items[spare[empty], 0]])
    keys = np.unique(keys)
    row, item = np.divmod(keys, wanted.items)
    luck = rng.random(len(keys))
    order = np.lexsort((luck, row))
    first = np.searchsorted(row, np.arange(BLOCK))
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys)) - first[row]
    kept = rank < wanted.longest
    row, item = row[kept], item[kept]
    cells = np.full((BLOCK, wanted.longest), -1, dtype=np.int64)
    first = np.searchsorted(row, np.arange(BLOCK))
    cells[row, np.arange(len(row)) - first[row]] = item
    return cells
