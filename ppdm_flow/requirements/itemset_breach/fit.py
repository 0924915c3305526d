"""Tests at a stated error probability whether released sets are what the operator makes of the original ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr
from scipy.stats import binom

from ppdm_flow.mining.transactions.counting.vertical import BitColumns, columns, expand, item_counts, support_counts
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator
from ppdm_flow.requirements.itemset_breach.material import BreachInput, plain
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]

ERROR = 1e-6
"""The probability that sets which follow their operator are rejected."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ObservationFit:
    """``p`` bounds the probability of something as unlikely as was observed, ``what``, on ``rows`` rows."""

    p: float
    what: str
    rows: int

    @property
    def holds(self) -> bool:
        """Whether the sets can be what the operator made."""
        return self.p >= ERROR


def fit_of(material: BreachInput, seen: ObservedPairs | None) -> ObservationFit:
    """Hold what was observed against the operator; without pairs the counts of items alone."""
    tests = list(_marginal(material) if seen is None else _paired(material.operator, seen))
    p, what = min(((float(np.min(p, initial=1.0)), what) for what, p in tests), default=(1.0, ""))
    number = sum(max(1, np.size(p)) for _, p in tests)
    return ObservationFit(min(1.0, p * number), what, sum(material.released.values()))


def _paired(operator: TransactionOperator, seen: ObservedPairs) -> Iterator[tuple[str, Floats]]:
    if seen.lengths_differ:
        yield "the published lengths are not those of the original sets", np.zeros(1)
    kept, came = chances(operator)
    yield "items of the original sets stayed too often or too rarely", binomial(seen.kept, seen.own, kept[:, None])
    others = seen.rows[:, None] - seen.own
    yield "other items came in too often or too rarely", binomial(seen.there - seen.kept, others, came[:, None])
    for place, m in enumerate(seen.sizes):
        counts = seen.overlaps[place]
        law = np.zeros(len(counts))
        law[: m + 1] = operator.law(m)
        yield "the numbers of items that stayed are not those of the operator", binomial(counts, seen.rows[place], law)
    if operator.refills or operator.family == NONE:
        yield "a set has too few or too many other items", _strict(operator, seen)
        return
    outside = operator.alphabet - np.array(operator.sizes)
    deviation = (seen.there - seen.kept).sum(axis=1) - seen.rows * outside * came
    spread = seen.rows * outside * came * (1.0 - came)
    yield "too many or too few other items came in", summed(deviation, spread, outside)
    if seen.exact:
        share = binom.cdf(seen.edges, outside[:, None], came[:, None])
        yield "sets differ too much or too little in other items", binomial(seen.reached, seen.rows[:, None], share)
        yield "a set has far too few or too many other items", _extremes(operator, seen)


def chances(operator: TransactionOperator) -> tuple[Floats, Floats]:
    """Return the probability that an item of a set stays, and that another one comes in, (sizes,)."""
    kept, came = [], []
    for m in operator.sizes:
        mean = float(np.arange(m + 1) @ operator.law(m))
        kept.append(mean / m if m else 0.0)
        outside = operator.alphabet - m
        new = m - mean + operator.inserted
        came.append(new / max(1, outside) if operator.refills else operator.rho(m))
    return np.minimum(np.array(kept), 1.0), np.array(came)


def _extremes(operator: TransactionOperator, seen: ObservedPairs) -> Floats:
    """Return the tails of the least and the largest number of items that came in, over all rows of a length."""
    there = seen.rows > 0
    outside = (operator.alphabet - np.array(operator.sizes))[there, None]
    came = chances(operator)[1][there, None]
    ends = np.column_stack((seen.fewest, seen.most))[there]
    return np.minimum(1.0, binomial(ends, outside, came) * seen.rows[there, None])


def _strict(operator: TransactionOperator, seen: ObservedPairs) -> Floats:
    """Return 0 for a length of which a row has another number of items than it had, 1 for others.

    What is not counted by rows follows from the numbers of items that stayed.
    """
    most = np.array([m + operator.inserted if operator.refills else 0 for m in operator.sizes])
    stayed = (seen.overlaps * np.arange(seen.overlaps.shape[1])).sum(axis=1)
    expected = most * seen.rows - (stayed if operator.refills else 0)
    came = (seen.there - seen.kept).sum(axis=1)
    return np.asarray((came == expected) & (seen.most <= most), dtype=np.float64)


def _marginal(material: BreachInput) -> Iterator[tuple[str, Floats]]:
    """Hold the released counts of items against what the original's would become."""
    operator = material.operator
    sizes = np.array(operator.sizes)
    own, there = (np.zeros((len(sizes), operator.alphabet), dtype=np.int64) for _ in range(2))
    for part in material.partitions():
        known, counts = item_counts(part)
        own[np.searchsorted(sizes, known)] += counts
    for sets in material.sets():
        known, counts = item_counts(sets)
        there[np.searchsorted(sizes, known)] += counts
    rows = np.array([material.numbers.get(m, 0) for m in operator.sizes])
    kept, came = chances(operator)
    expected = own * kept[:, None] + (rows[:, None] - own) * came[:, None]
    yield "items are released too often or too rarely", mixed(there, rows[:, None], expected)


# Original and released sets side by side: what stayed, what came in, and what is seen of the itemsets in question.


QUANTILES = (0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999)
"""Where the numbers of items that came in are told apart."""


@dataclass(frozen=True, slots=True)
class WatchedItem:
    """An itemset A and an item z, by their places in the alphabet."""

    itemset: tuple[int, ...]
    item: int


@dataclass(slots=True, eq=False)
class ObservedPairs:
    """Sums over pairs of rows. The first axis is the length m of the original, in the order of ``sizes``.

    ``rows`` (sizes,); ``own``, ``kept``, ``there`` (sizes, alphabet): originals with an item, those of them that still
    have it, released ones with it; ``overlaps`` (sizes, longest + 1): rows by |t ∩ t'|; ``fewest``, ``most`` (sizes,):
    items that came in at least and at most; ``reached`` (sizes, edges): rows with at most ``edges`` of these; ``seen``,
    ``hits`` (watched, sizes): released sets with A, those of them of which the original has z. ``lengths_differ``: rows
    of which the published length is another than the original's.
    """

    sizes: tuple[int, ...]
    alphabet: int
    watched: Sequence[WatchedItem]
    edges: Integers
    exact: bool = True
    lengths_differ: int = 0
    rows: Integers = field(init=False)
    own: Integers = field(init=False)
    kept: Integers = field(init=False)
    there: Integers = field(init=False)
    overlaps: Integers = field(init=False)
    fewest: Integers = field(init=False)
    most: Integers = field(init=False)
    reached: Integers = field(init=False)
    seen: Integers = field(init=False)
    hits: Integers = field(init=False)

    def __post_init__(self) -> None:
        number = len(self.sizes)
        self.rows = np.zeros(number, dtype=np.int64)
        self.own, self.kept, self.there = (np.zeros((number, self.alphabet), dtype=np.int64) for _ in range(3))
        self.overlaps = np.zeros((number, max(self.sizes) + 1), dtype=np.int64)
        self.fewest = np.full(number, self.alphabet, dtype=np.int64)
        self.most = np.zeros(number, dtype=np.int64)
        self.reached = np.zeros_like(self.edges)
        self.seen, self.hits = (np.zeros((len(self.watched), number), dtype=np.int64) for _ in range(2))

    def look(self, before: Baskets, after: SetColumn) -> None:
        """Take in one partition: row i of both is one row."""
        differ = before.sizes != after.sizes
        if differ.any():
            self.lengths_differ += int(differ.sum())
            before, after = before.take(~differ), after.take(~differ)
        if not len(before):
            return
        self._watch(before, after)
        if isinstance(after, SeededSets):
            self.exact, after = False, expand(after)
        bits = after if isinstance(after, PackedSets) else PackedSets.of(after)
        place = np.searchsorted(np.array(self.sizes), before.sizes)
        self.rows += np.bincount(place, minlength=len(self.sizes))
        self._items(before, bits, place)

    def _items(self, before: Baskets, bits: PackedSets, place: Integers) -> None:
        row, item = before.rows(), before.items.astype(np.int64)
        stays = (bits.words[row, item >> 6] >> (item & 63).astype(np.uint64)) & np.uint64(1) == 1
        shape = (len(self.sizes), self.alphabet)
        cell = place[row] * self.alphabet + item
        self.own += np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
        self.kept += np.bincount(cell[stays], minlength=shape[0] * shape[1]).reshape(shape)
        sizes, counts = item_counts(bits)
        self.there[np.searchsorted(np.array(self.sizes), sizes)] += counts
        overlap = np.bincount(row[stays], minlength=len(before))
        wide = self.overlaps.shape[1]
        self.overlaps += np.bincount(place * wide + overlap, minlength=self.overlaps.size).reshape(self.overlaps.shape)
        came = np.bitwise_count(bits.words).sum(axis=1, dtype=np.int64) - overlap
        np.minimum.at(self.fewest, place, came)
        np.maximum.at(self.most, place, came)
        for edge in range(self.edges.shape[1]):
            self.reached[:, edge] += np.bincount(place[came <= self.edges[place, edge]], minlength=len(self.sizes))

    def _watch(self, before: Baskets, after: SetColumn) -> None:
        if not self.watched:
            return
        items = np.unique([i for w in self.watched for i in (*w.itemset, w.item)]).astype(np.int64)
        both = _both(columns(before, items), columns(after, items))
        into = np.searchsorted(np.array(self.sizes), both.sizes)
        for length in sorted({len(w.itemset) for w in self.watched}):
            which = [i for i, w in enumerate(self.watched) if len(w.itemset) == length]
            itemsets = np.array([self.watched[i].itemset for i in which], dtype=np.int64)
            lines = np.searchsorted(items, itemsets) + len(items)
            holds = np.searchsorted(items, [self.watched[i].item for i in which])
            at = np.ix_(np.array(which), into)
            self.seen[at] += support_counts(both, lines)
            self.hits[at] += support_counts(both, np.column_stack((lines, holds)))


def observed(material: BreachInput, watched: Sequence[WatchedItem]) -> ObservedPairs | None:
    """Look at all pairs once; None where rows cannot be matched."""
    if material.pairs is None:
        return None
    seen = ObservedPairs(material.operator.sizes, material.operator.alphabet, watched, edges_of(material.operator))
    for before, after in material.pairs.pairs([material.name], [material.column]):
        seen.look(_before(before, material), after.sets[material.column])
    return seen


def edges_of(operator: TransactionOperator) -> Integers:
    """Return quantiles of how many items come in, (sizes, edges)."""
    sizes = np.array(operator.sizes)
    chance = np.array([0.0 if operator.refills else operator.rho(m) for m in operator.sizes])
    quantiles = binom.ppf(np.array(QUANTILES)[None, :], (operator.alphabet - sizes)[:, None], chance[:, None])
    return np.asarray(quantiles, dtype=np.int64)


def _before(table: Table, material: BreachInput) -> Baskets:
    return plain(table, material.name).onto(material.alphabet)


def _both(before: BitColumns, after: BitColumns) -> BitColumns:
    """Return the bits of both, one under the other: lengths are the same, so that rows lie in the same places."""
    items = np.concatenate((before.items, after.items))
    return BitColumns(items, np.concatenate((before.words, after.words)), before.sizes, before.starts, before.rows)


# Probabilities of counts as unlikely as those observed, all of them bounds that hold for any number of rows.


PLAIN = 4.0
"""Standard deviations within which a count with enough variance is not looked at closely: its tail is above 1e-5."""
ENOUGH = 25.0


def binomial(hits: npt.ArrayLike, trials: npt.ArrayLike, chance: npt.ArrayLike) -> Floats:
    """Return twice the smaller tail of Binomial(trials, chance) at ``hits``, at most 1, elementwise.

    1 without a closer look where the count is within four standard deviations: a bound from above all the same.
    """
    x, n, p = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (hits, trials, chance)))
    p_values = np.ones(x.shape)
    variance = n * p * (1.0 - p)
    close = (variance < ENOUGH) | (np.abs(x - n * p) > PLAIN * np.sqrt(variance))
    x, n, p = x[close], n[close], p[close]
    tails = 2.0 * np.minimum(binom.cdf(x, n, p), binom.sf(x - 1.0, n, p))
    p_values[close] = np.minimum(np.where(n > 0, tails, 1.0), 1.0)
    return p_values


def summed(deviation: npt.ArrayLike, variance: npt.ArrayLike, largest: npt.ArrayLike) -> Floats:
    """Return Bernstein's bound on both tails of a sum of independent terms, each within ``largest`` of its mean.

    For any law of the terms: rows are independent, and events within a row need not be.
    """
    t, v, m = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (deviation, variance, largest)))
    t = np.abs(t)
    below = v + m * t / 3.0
    exponent = np.divide(t * t, below, out=np.zeros(t.shape), where=t > 0.0)
    return np.asarray(np.minimum(1.0, 2.0 * np.exp(-0.5 * exponent)))


def mixed(hits: npt.ArrayLike, trials: npt.ArrayLike, expected: npt.ArrayLike) -> Floats:
    """Return a bound on the tails of a sum of ``trials`` independent yes or no with the mean ``expected``.

    Twice exp(-n KL(x/n || mean/n)), for any single chances (Hoeffding 1963, theorem 1).
    """
    x, n, mean = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (hits, trials, expected)))
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = rel_entr(x, mean) + rel_entr(n - x, n - mean)
    divergence = np.where(np.abs(x - mean) <= 1e-9 * np.maximum(1.0, n), 0.0, divergence)
    return np.minimum(1.0, 2.0 * np.exp(-np.maximum(divergence, 0.0)))
