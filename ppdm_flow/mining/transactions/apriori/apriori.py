"""Apriori on estimated supports: what is frequent in the transactions before they were randomized.

Evfimievski et al. (KDD 2002), section 6: a candidate is kept for larger ones where its estimated support is above
s_min - sigma, so that one unlucky estimate does not take all supersets along; what is reported has s_min itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.transactions.apriori.counting import MEMORY, Counter, Partitions
from ppdm_flow.mining.transactions.apriori.levels import MOST, Integers, Level, joined, patterns
from ppdm_flow.mining.transactions.counting.counting import partial
from ppdm_flow.mining.transactions.estimates import LEVEL, QuantityEstimates, expected_sigma, supports
from ppdm_flow.mining.transactions.operators import TransactionOperator

Bools = npt.NDArray[np.bool_]

NO_CANDIDATES, LENGTH, PRECISION, SEEDS, LOST = "no candidates", "length", "precision", "seeds", "lost"
"""Why a search ended: nothing to try, the size asked for, standard errors too large, seeds without more items, or an
operator that keeps too few items for larger itemsets to be recovered at all."""
_CHUNK = 1 << 15
_COUNTS = 1 << 28
"""Counts of candidates, by original size, of one itemset size at most: what memory holds."""


@dataclass(frozen=True, slots=True, eq=False)
class SizedItemsets:
    """Candidates of one size: ``itemsets`` (n, k), ``estimates`` (n,), which are ``frequent``, and sigma at s_min.

    ``counts`` (n, classes, 2^k) are the randomized rows by pattern; classes are the operator's sizes.
    """

    itemsets: Integers
    estimates: QuantityEstimates
    frequent: Bools
    sigma: float


@dataclass(frozen=True, slots=True, eq=False)
class MinedItemsets:
    """What a search found, one entry a size from 1; ``stopped`` says why it ended there."""

    operator: TransactionOperator
    min_support: float
    rows: Integers
    by_size: list[SizedItemsets]
    levels: list[Level]
    stopped: str

    def patterns(self, size: int) -> tuple[Integers, Integers]:
        """Return the frequent itemsets of ``size`` and their counts by pattern, (n, k) and (n, classes, 2^k)."""
        frequent = self.by_size[size - 1].frequent
        itemsets, counts = self.by_size[size - 1].itemsets[frequent], self.levels[size - 1].counts[frequent]
        return itemsets, patterns(self.levels, itemsets, counts, self.rows, self.operator.alphabet)


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """How far a search goes.

    ``length``: items of the largest itemset, None for no bound. ``precision``: it stops before the size at which an
    itemset of minimum support would lie fewer standard errors than this above zero; the paper calls 4 discoverable.
    ``level``: of the intervals. ``most``: candidates of a size. ``memory``: bytes of the bits that are held, so that
    partitions need not be read again for each size.
    """

    length: int | None = None
    precision: float = 2.0
    level: float = LEVEL
    most: int = MOST
    memory: int = MEMORY


@dataclass(frozen=True, slots=True)
class CountProgress:
    """How far a search is: among ``candidates`` itemsets of ``size`` items ``rows`` more transactions were counted."""

    size: int
    candidates: int
    rows: int


def mine(
    partitions: Partitions,
    operator: TransactionOperator,
    min_support: float,
    bounds: SearchBounds | None = None,
    threads: int = 1,
    progress: Callable[[CountProgress], None] | None = None,
) -> MinedItemsets:
    """Return the itemsets whose estimated support is at least ``min_support``, a share of all rows in (0, 1].

    ``partitions()`` gives the randomized transactions as set columns, anew for each size. ``progress`` is told, in the
    caller's thread, of each partition that was counted. Raises ValueError for another support and for no rows,
    PluginError PPF869 where supports cannot be recovered, PPF775 for too many candidates, DataError PPF777 for a size
    that the operator does not know.
    """
    if not 0.0 < min_support <= 1.0:
        raise ValueError(f"min_support must be in (0, 1], got {min_support!r}")
    limits = SearchBounds() if bounds is None else bounds
    place = [1, operator.alphabet]

    def counted_rows(rows: int) -> None:
        if progress is not None:
            progress(CountProgress(place[0], place[1], rows))

    counter = Counter(partitions, operator, threads, limits.memory, counted_rows)
    rows, counts, spare = counter.singles()
    if not rows.any():
        raise ValueError("there are no transactions to mine")
    search = _Search(operator, min_support, limits, rows)
    most = min(limits.most, _COUNTS // len(operator.sizes))
    itemsets, parents = np.arange(operator.alphabet)[:, None], np.zeros(operator.alphabet, dtype=np.int64)
    while True:
        search.take(itemsets, parents, counts)
        if stop := search.reason(spare):
            break
        itemsets, parents = joined(search.levels, operator.alphabet, most)
        if len(itemsets) == 0:
            stop = NO_CANDIDATES
            break
        place[:] = [itemsets.shape[1], len(itemsets)]
        counts = counter.itemsets(itemsets)
    return MinedItemsets(operator, min_support, rows, search.by_size, search.levels, stop)


@dataclass(slots=True, eq=False)
class _Search:
    """The sizes that are done."""

    operator: TransactionOperator
    min_support: float
    bounds: SearchBounds
    rows: Integers
    by_size: list[SizedItemsets] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)

    def take(self, itemsets: Integers, parents: Integers, counts: Integers) -> None:
        """Estimate the candidates of the next size."""
        estimates = self._estimates(itemsets, counts)
        kept = estimates.value >= self.min_support - estimates.sigma
        self.levels.append(Level(itemsets, parents, counts, kept))
        frequent = estimates.value >= self.min_support
        self.by_size.append(SizedItemsets(itemsets, estimates, frequent, self.sigma(itemsets.shape[1])))

    def reason(self, spare: int | None) -> str | None:
        """Say why the next size is not looked at, None if it is."""
        size = len(self.by_size) + 1
        longest = max(m for m, n in self._numbers().items() if n)
        if size > (longest if self.bounds.length is None else min(longest, self.bounds.length)):
            return LENGTH
        if spare is not None and size > spare:
            return SEEDS
        try:
            lost = self.min_support < self.bounds.precision * self.sigma(size)
        except PluginError:
            return LOST
        return PRECISION if lost else None

    def sigma(self, size: int) -> float:
        """Return the standard error of an itemset of minimum support whose items are otherwise not in the data."""
        share = np.zeros(size + 1)
        share[0], share[-1] = 1.0 - self.min_support, self.min_support
        own = {m: share if m >= size else np.eye(size + 1)[0] for m, n in self._numbers().items() if n}
        return float(expected_sigma(self.operator, own, self._numbers()))

    def _numbers(self) -> dict[int, float]:
        return dict(zip(self.operator.sizes, self.rows.astype(float).tolist(), strict=True))

    def _estimates(self, itemsets: Integers, counts: Integers) -> QuantityEstimates:
        """Estimate in chunks: patterns take 2^k numbers a class."""
        chunks = []
        for start in range(0, max(1, len(itemsets)), _CHUNK):
            piece = slice(start, start + _CHUNK)
            by_pattern = patterns(self.levels, itemsets[piece], counts[piece], self.rows, self.operator.alphabet)
            overlaps = partial(by_pattern)
            here = {m: overlaps[:, c] for c, m in enumerate(self.operator.sizes) if self.rows[c]}
            chunks.append(supports(self.operator, here, self.bounds.level))
        return QuantityEstimates(
            np.concatenate([c.value for c in chunks]),
            np.concatenate([c.sigma for c in chunks]),
            np.concatenate([c.low for c in chunks]),
            np.concatenate([c.high for c in chunks]),
        )
