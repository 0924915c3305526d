"""Itemsets level by level, from exact or randomized sets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.mining.itemsets.mine import mine_transactions
from ppdm_flow.mining.transactions.counting.seeded_expansion import ExpansionPoints
from ppdm_flow.mining.transactions.counting.vertical import (
    BitColumns,
    columns,
    exactly,
    item_counts,
    partial,
    support_counts,
)
from ppdm_flow.mining.transactions.estimates import LEVEL, QuantityEstimates, expected_sigma, supports
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.tables.sets import Baskets, SeededSets, SetColumn

Bools = npt.NDArray[np.bool_]

NO_CANDIDATES, LENGTH, PRECISION, SEEDS, LOST = "no candidates", "length", "precision", "seeds", "lost"
"""Why a search ended: nothing to try, the size asked for, standard errors too large, seeds without more items, or an
operator that keeps too few items for larger itemsets to be recovered at all."""
_CHUNK = 1 << 15
_COUNTS = 1 << 28
"""Counts of candidates, by original size, of one itemset size at most: what memory holds."""
Integers = npt.NDArray[np.int64]
Partitions = Callable[[], Iterable[SetColumn]]
"""Gives the partitions of the randomized transactions; called once for each itemset size, if they are not held."""
P = TypeVar("P")
R = TypeVar("R")


# Apriori on estimated supports: what is frequent in the transactions before they were randomized.
#
# Evfimievski et al. (KDD 2002), section 6: a candidate is kept for larger ones where its estimated support is above
# s_min - sigma, so that one unlucky estimate does not take all supersets along; what is reported has s_min itself.


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


# Itemsets that were counted, size by size: joining, pruning and finding them again, on whole arrays.


MOST = 20_000_000
"""Candidates of one size that are tried at most."""


# Counting over partitions: read anew for each itemset size, or held as bits where these fit into memory.


MEMORY = 1 << 30
"""Bytes of the bits that are held at most: a bit for each transaction and each item that larger itemsets have."""


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


NOWHERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """``itemsets`` (n, k) of ascending items, in lexicographic order, and ``counts`` (n, classes) of rows with all.

    ``parents`` (n,) is where each one's first k - 1 items are in the level before. ``kept`` (n,) are those of which
    larger candidates are made.
    """

    itemsets: Integers
    parents: Integers
    counts: Integers
    kept: Bools

    def keys(self, alphabet: int) -> Integers:
        """Return one ascending number for each itemset."""
        keys: Integers = self.parents * alphabet + self.itemsets[:, -1]
        return keys


def joined(levels: list[Level], alphabet: int, most: int = MOST) -> tuple[Integers, Integers]:
    """Return candidates of one more item, all of whose subsets are kept, and their parents.

    Agrawal, Srikant, "Fast algorithms for mining association rules", VLDB 1994, section 2.1.1. Raises PluginError
    PPF775 for more than ``most`` joined pairs.
    """
    last = levels[-1]
    alive = np.flatnonzero(last.kept)
    group = last.parents[alive]
    ends = np.searchsorted(group, group, side="right")
    partners = ends - np.arange(len(alive)) - 1
    total = int(partners.sum())
    if total > most:
        raise _too_many(last.itemsets.shape[1] + 1, most)
    first = np.repeat(np.arange(len(alive)), partners)
    second = first + 1 + np.arange(total) - np.repeat(np.cumsum(partners) - partners, partners)
    itemsets = np.column_stack([last.itemsets[alive[first]], last.itemsets[alive[second], -1]])
    complete = np.ones(total, dtype=bool)
    for without in range(itemsets.shape[1] - 2):  # dropping either of the last two gives what was joined
        at = places(levels, np.delete(itemsets[complete], without, axis=1), alphabet)
        good = (at != NOWHERE) & last.kept[np.maximum(at, 0)]
        complete[np.flatnonzero(complete)[~good]] = False
    return itemsets[complete], alive[first][complete]


def places(levels: list[Level], itemsets: Integers, alphabet: int) -> Integers:
    """Return where each of ``itemsets`` (n, k) is in the level of its size, ``NOWHERE`` if it was not counted."""
    parents = np.zeros(len(itemsets), dtype=np.int64)
    for depth in range(itemsets.shape[1]):
        keys = levels[depth].keys(alphabet)
        wanted = parents * alphabet + itemsets[:, depth]
        if len(keys) == 0:
            return np.full(len(itemsets), NOWHERE, dtype=np.int64)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        parents = np.where((parents != NOWHERE) & (keys[at] == wanted), at, NOWHERE)
    return parents


def patterns(levels: list[Level], itemsets: Integers, counts: Integers, rows: Integers, alphabet: int) -> Integers:
    """Return the rows of each class by which of the items they have, (n, classes, 2^k): all subsets were counted.

    ``counts`` (n, classes) are those of ``itemsets`` (n, k) themselves, ``rows`` (classes,) all rows.
    """
    size = itemsets.shape[1]
    rows_by_pattern = np.empty((len(itemsets), len(rows), 1 << size), dtype=np.int64)
    rows_by_pattern[:, :, 0] = rows
    rows_by_pattern[:, :, -1] = counts
    for chosen in range(1, size):
        for some in combinations(range(size), chosen):
            mask = sum(1 << place for place in some)
            rows_by_pattern[:, :, mask] = levels[chosen - 1].counts[places(levels, itemsets[:, list(some)], alphabet)]
    return exactly(rows_by_pattern)


def _too_many(size: int, most: int) -> PluginError:
    return PluginError(
        Diagnostic(
            "PPF775",
            f"there are more than {most} candidate itemsets of {size} items",
            help="raise the minimum support, bound the size of the itemsets, or ask for more precision",
        )
    )


def exact(baskets: Baskets, least: int, longest: int | None = None) -> list[Level]:
    """Return the itemsets that at least ``least`` rows hold, one level for each size from 1; counts are (n, 1).

    Items are places in the alphabet of ``baskets``. Raises PluginError PPF775 for too many.
    """
    if not len(baskets):
        return []
    alphabet = max(1, len(baskets.categories))
    mined = mine_transactions(baskets.offsets, baskets.items, least, alphabet=alphabet, max_length=longest)
    mined = mined.take(mined.lexicographic())
    levels: list[Level] = []
    for size in range(1, int(mined.lengths.max(initial=0)) + 1):
        here = mined.take(np.flatnonzero(mined.lengths == size))
        itemsets = here.items.reshape(-1, size).astype(np.int64)
        parents = places(levels, itemsets[:, :-1], alphabet)
        levels.append(Level(itemsets, parents, here.supports[:, None], np.ones(len(here), dtype=bool)))
    return levels


def counted(partitions: Partitions, itemsets: Integers) -> Integers:
    """Return how many rows hold each of ``itemsets`` (n, k), places in the alphabet that all partitions share."""
    total = np.zeros(len(itemsets), dtype=np.int64)
    items, lines = np.unique(itemsets, return_inverse=True)
    if not len(itemsets):
        return total
    for part in partitions():
        total += support_counts(columns(part, items), lines.reshape(itemsets.shape)).sum(axis=1)
    return total


def _silent(_rows: int) -> None:
    """Say nothing."""


@dataclass(slots=True, eq=False)
class Counter:
    """Adds up counts by original size, in the order of ``operator.sizes``, on ``threads`` partitions at a time.

    ``memory`` bounds the bytes of the bits that are held from one size to the next; ``on_rows`` hears of the rows that
    have been counted, partition by partition.
    """

    partitions: Partitions
    operator: TransactionOperator
    threads: int = 1
    memory: int = MEMORY
    on_rows: Callable[[int], None] = _silent
    _rows: int = 0
    _bit_blocks: list[BitColumns] = field(default_factory=list)

    def singles(self) -> tuple[Integers, Integers, int | None]:
        """Return rows (classes,), rows with each item (alphabet, classes), and up to how many items can be estimated.

        The last is None where there is no such limit: it is that of seeds.
        """
        alphabet = self.operator.alphabet
        rows = np.zeros(len(self.operator.sizes), dtype=np.int64)
        sums = np.zeros((alphabet, len(rows)), dtype=np.int64)
        spare: int | None = None
        tabulated: dict[int, ExpansionPoints] = {}

        def count(part: SetColumn) -> tuple[Integers, Integers, Integers]:
            points = _points(part, np.arange(alphabet), tabulated)
            sizes, counts = item_counts(part, points)
            return self._classes(sizes), counts, np.array([np.sum(part.sizes == m) for m in sizes], dtype=np.int64)

        for part, (classes, counts, number) in self._each(self.partitions(), count):
            sums[:, classes] += counts.T
            rows[classes] += number
            self.on_rows(len(part))
            if isinstance(part, SeededSets):
                spare = part.expansion.spare if spare is None else min(spare, part.expansion.spare)
        self._rows = int(rows.sum())
        return rows, sums, spare

    def itemsets(self, itemsets: Integers) -> Integers:
        """Return how many rows of each class have all items of each itemset (n, k): (n, classes)."""
        items, lines = np.unique(itemsets, return_inverse=True)
        lines = lines.reshape(itemsets.shape)
        sums = np.zeros((len(itemsets), len(self.operator.sizes)), dtype=np.int64)

        def count(here: BitColumns) -> tuple[Integers, Integers]:
            return self._classes(here.sizes), support_counts(here, np.searchsorted(here.items, items)[lines])

        for here, (classes, counts) in self._counted(items, count):
            sums[:, classes] += counts
            self.on_rows(int(here.rows.sum()))
        return sums

    def _counted(self, items: Integers, count: Callable[[BitColumns], R]) -> Iterator[tuple[BitColumns, R]]:
        """Count on bits of the items, or of more: those that are held, or else of the partitions as they come."""
        if self._bit_blocks:
            yield from self._each(self._bit_blocks, count)
            return
        fits = 0 < self._rows * len(items) // 8 <= self.memory
        tabulated: dict[int, ExpansionPoints] = {}

        def turned(part: SetColumn) -> tuple[BitColumns, R]:
            here = columns(part, items, _points(part, items, tabulated))
            return here, count(here)

        for _, (here, counted) in self._each(self.partitions(), turned):
            if fits:
                self._bit_blocks.append(here)
            yield here, counted

    def _each(self, parts: Iterable[P], count: Callable[[P], R]) -> Iterator[tuple[P, R]]:
        """Count several partitions at once, in order, while the next one is read."""
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[tuple[P, Future[R]]] = deque()
            try:
                for part in parts:
                    waiting.append((part, pool.submit(count, part)))
                    if len(waiting) > self.threads:
                        first, done = waiting.popleft()
                        yield first, done.result()
                while waiting:
                    first, done = waiting.popleft()
                    yield first, done.result()
            finally:
                for _, left in waiting:
                    left.cancel()

    def _classes(self, sizes: Integers) -> Integers:
        known = np.array(self.operator.sizes)
        at = np.minimum(np.searchsorted(known, sizes), len(known) - 1)
        if (known[at] != sizes).any():
            raise DataError(
                Diagnostic("PPF777", "a randomized transaction has a size that the operator says nothing of")
            )
        return at


def _points(part: SetColumn, items: Integers, tabulated: dict[int, ExpansionPoints]) -> ExpansionPoints | None:
    """Tabulate the items once for each width of seeds."""
    if not isinstance(part, SeededSets):
        return None
    width = part.expansion.width
    if width not in tabulated:
        tabulated[width] = ExpansionPoints.of(items, width)
    return tabulated[width]
