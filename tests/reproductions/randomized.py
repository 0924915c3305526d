"""One experiment on randomized transactions: choose an operator, randomize, mine, and compare with the originals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from basket_data import Transactions

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.transactions.apriori import NOWHERE, MinedItemsets, SearchBounds, mine, patterns, places
from ppdm_flow.mining.transactions.breaches import by_item, level_over_sizes, likelihoods
from ppdm_flow.mining.transactions.choosing import Challenge, OperatorForAllSizes, choose
from ppdm_flow.mining.transactions.counting.vertical import BitColumns, columns, support_counts
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.prevalent import pools
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.mining.transactions.randomize.seeded import rounded_up
from ppdm_flow.tables.sets import SetColumn

LENGTHS = (1, 2, 3)
THREADS = 2
PACKED = 512
"""Up to so many items bits are released, above seeds."""
POOLED = 0.01
"""Transaction sizes that fewer of the rows have are taken together with their neighbours."""
LEAST_SEEN = 1000
"""Randomized transactions that a measured breach is a share of, at least."""


@dataclass(frozen=True)
class Truth:
    """What is really in the transactions: all itemsets of 1 to 3 items down to ``floor``, by transaction size."""

    data: Transactions
    mined: MinedItemsets
    floor: float

    @classmethod
    def of(cls, data: Transactions, floor: float) -> Truth:
        operator = TransactionOperator.none(data.numbers, data.items)
        return cls(data, mine(lambda: data.parts, operator, floor, SearchBounds(length=max(LENGTHS)), THREADS), floor)

    def frequent(self, length: int, least: float) -> np.ndarray:
        """Return itemsets with at least that support, (n, length)."""
        if length > len(self.mined.by_size):
            return np.zeros((0, length), dtype=np.int64)
        found = self.mined.by_size[length - 1]
        return found.itemsets[found.estimates.value >= least]

    def overall(self) -> tuple[float, ...]:
        """Return the largest supports among all transactions, by itemset size."""
        found = [float(f.estimates.value.max(initial=0.0)) for f in self.mined.by_size]
        return tuple(max(s, self.floor) for s in found + [self.floor] * (max(LENGTHS) - len(found)))

    def by_size(self) -> dict[int, tuple[float, ...]]:
        """Return the largest supports among the transactions of each size, or of as many sizes as hold enough of them.

        An itemset below the floor was not counted: it may still have that many rows of one pool.
        """
        sizes, found = self.mined.operator.sizes, {}
        for pool in pools(self.data.numbers, round(POOLED * self.data.rows)):
            classes = [sizes.index(m) for m in pool.sizes]
            floor = min(1.0, self.floor * self.data.rows / pool.rows)
            largest = [level.counts[:, classes].sum(axis=1).max(initial=0) / pool.rows for level in self.mined.levels]
            largest += [0.0] * (max(LENGTHS) - len(largest))
            held = [largest[0], *(max(s, floor) for s in largest[1:])]
            found |= dict.fromkeys(pool.sizes, tuple(np.minimum.accumulate(held).tolist()))
        return found


def chosen(
    truth: Truth,
    level: float,
    *,
    by_size: bool,
    lengths: tuple[int, ...] = LENGTHS,
    challenge: Challenge = Challenge.WORST,
) -> tuple[OperatorForAllSizes, TransactionOperator]:
    """Return what was chosen, and the operator with insertion probabilities that the kernels draw exactly."""
    maxima = truth.by_size() if by_size else truth.overall()
    numbers = {m: float(n) for m, n in truth.data.numbers.items()}
    found = choose(maxima, numbers, truth.data.items, level=level, lengths=lengths, challenge=challenge)
    return found, rounded_up(found.operator)


def randomized(data: Transactions, operator: TransactionOperator, run: int) -> list[SetColumn]:
    """Return the transactions as the operator makes them, in bits or seeds."""
    bits = data.items <= PACKED
    needed = randomize.draws_per_row(operator) if bits else seeded.draws_per_row(operator)
    draws = Draws(RunKey.from_seed(f"{data.name} {run}").step("randomize"), needed)
    act = randomize.randomize if bits else seeded.seed

    def one(place: int) -> SetColumn:
        start = data.starts[place]
        return act(data.parts[place], operator, draws, np.arange(start, start + len(data.parts[place])))

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(len(data.parts))))


def recovered(
    out: list[SetColumn], operator: TransactionOperator, least: float, precision: float = 2.0
) -> MinedItemsets:
    return mine(lambda: out, operator, least, SearchBounds(length=max(LENGTHS), precision=precision), THREADS)


@dataclass(frozen=True)
class Compared:
    """What mining found of the itemsets of one size.

    ``predicted``: of truly frequent itemsets by predicted support, ``actual``: of those predicted frequent by their
    true support, in four buckets: below a half, below three quarters of the minimum support, below it, and above it.
    """

    frequent: int
    true_positives: int
    predicted: list[int]
    actual: list[int]

    @property
    def false_drops(self) -> int:
        return self.frequent - self.true_positives

    @property
    def false_positives(self) -> int:
        return sum(self.actual) - self.true_positives


def compared(truth: Truth, found: MinedItemsets, length: int, least: float) -> Compared:
    """An itemset that the search did not look at counts as one with a predicted support of 0."""
    real = truth.frequent(length, least)
    if length > len(found.by_size):
        return Compared(len(real), 0, [len(real), 0, 0, 0], [0, 0, 0, 0])
    here = found.by_size[length - 1]
    predicted = _values(found, real)
    actual = _values(truth.mined, here.itemsets[here.frequent])
    both = _buckets(predicted, least)
    return Compared(len(real), both[-1], both, _buckets(actual, least))


def _values(mined: MinedItemsets, itemsets: np.ndarray) -> np.ndarray:
    at = places(mined.levels, itemsets, mined.operator.alphabet)
    values = mined.by_size[itemsets.shape[1] - 1].estimates.value
    return np.where(at == NOWHERE, 0.0, values[np.maximum(at, 0)] if len(values) else 0.0)


def _buckets(values: np.ndarray, least: float) -> list[int]:
    edges = np.array([0.5, 0.75, 1.0]) * least
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=4).tolist()


@dataclass(frozen=True)
class Breach:
    """The largest Pr[z in t | event] over itemsets A of one size and z in A.

    ``overall`` for who does not know the size of t, ``by_size`` for who does; over transaction sizes that enough rows
    have. ``absent``: the event is that A is not in t', ``overall`` alone.
    """

    overall: float
    by_size: float
    absent: float = 0.0


def measured(truth: Truth, out: list[SetColumn], least: float) -> Iterator[tuple[int, Breach]]:
    """Yield by itemset size what shares the two tables really have, over itemsets of that support."""
    sets = {k: truth.frequent(k, least) for k in LENGTHS}
    items = np.unique(np.concatenate([s.ravel() for s in sets.values()]))
    sizes = np.array(truth.mined.operator.sizes)
    wanted = {k: np.searchsorted(items, s) for k, s in sets.items()}
    seen = {k: np.zeros((len(s), len(sizes))) for k, s in sets.items()}
    hits = {k: np.zeros((k, len(s), len(sizes))) for k, s in sets.items()}

    def count(place: int) -> tuple[np.ndarray, dict[int, np.ndarray], dict[int, list[np.ndarray]]]:
        both = _both(columns(truth.data.parts[place], items), columns(out[place], items))
        lines = {k: w + len(items) for k, w in wanted.items()}
        again = {k: [np.column_stack([lines[k], w[:, i]]) for i in range(k)] for k, w in wanted.items()}
        return (
            np.searchsorted(sizes, both.sizes),
            {k: support_counts(both, w) for k, w in lines.items()},
            {k: [support_counts(both, w) for w in every] for k, every in again.items()},
        )

    with ThreadPoolExecutor(THREADS) as pool:
        for classes, some, with_item in pool.map(count, range(len(out))):
            for k in LENGTHS:
                seen[k][:, classes] += some[k]
                for i in range(k):
                    hits[k][i][:, classes] += with_item[k][i]
    prior, enough = _having(truth), truth.mined.rows >= POOLED * truth.data.rows
    for k in LENGTHS:
        having = prior[sets[k]].T  # (k, n)
        rows = float(truth.data.rows)
        unseen = rows - seen[k].sum(axis=1)
        absent = (having - hits[k].sum(axis=2)) / np.maximum(unseen, 1.0)
        level = np.where((seen[k] >= LEAST_SEEN) & enough, hits[k] / np.maximum(seen[k], 1.0), 0.0)
        overall = hits[k].sum(axis=2) / np.maximum(seen[k].sum(axis=1), 1.0)
        yield k, Breach(_top(overall), _top(level), _top(absent))


def _having(truth: Truth) -> np.ndarray:
    """Return how many transactions have each item."""
    return truth.mined.levels[0].counts.sum(axis=1)


def _both(original: BitColumns, released: BitColumns) -> BitColumns:
    """Put the bits of both beside each other: rows of one size are together in either."""
    words = np.concatenate([original.words, released.words])
    return BitColumns(np.arange(len(words)), words, original.sizes, original.starts, original.rows)


def predicted(truth: Truth, operator: TransactionOperator, least: float) -> Iterator[tuple[int, Breach]]:
    """Yield by itemset size what the operator and the true partial supports say, exactly."""
    rows = truth.mined.rows
    sizes = truth.mined.operator.sizes
    enough = rows >= POOLED * rows.sum()
    for k in LENGTHS:
        itemsets = truth.frequent(k, least)
        if len(itemsets) == 0:
            yield k, Breach(0.0, 0.0)
            continue
        at = places(truth.mined.levels, itemsets, operator.alphabet)
        counts = truth.mined.levels[k - 1].counts[at]
        supports, with_item = by_item(patterns(truth.mined.levels, itemsets, counts, rows, operator.alphabet))
        law: Mapping[int, np.ndarray] = {m: likelihoods(operator, m, k) for m in sizes}
        here = {m: np.repeat(supports[:, c, None], k, axis=1) for c, m in enumerate(sizes)}
        having = {m: with_item[:, c] for c, m in enumerate(sizes)}
        overall = level_over_sizes(law, here, having)
        alone = [
            _top(level_over_sizes({m: law[m]}, {m: here[m]}, {m: having[m]})) for c, m in enumerate(sizes) if enough[c]
        ]
        yield k, Breach(_top(overall), max(alone))


def _top(values: np.ndarray) -> float:
    return float(values.max(initial=0.0))
