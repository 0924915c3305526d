"""Counting over partitions: read anew for each itemset size, or held as bits where these fit into memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.counting.counting import support_counts
from ppdm_flow.mining.transactions.counting.seeded_expansion import ExpansionPoints
from ppdm_flow.mining.transactions.counting.vertical import BitColumns, columns, item_counts
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.tables.sets import SeededSets, SetColumn

Integers = npt.NDArray[np.int64]
Partitions = Callable[[], Iterable[SetColumn]]
"""Gives the partitions of the randomized transactions; called once for each itemset size, if they are not held."""
P = TypeVar("P")
R = TypeVar("R")

MEMORY = 1 << 30
"""Bytes of the bits that are held at most: a bit for each transaction and each item that larger itemsets have."""


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
    _held: list[BitColumns] = field(default_factory=list)

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
        if self._held:
            yield from self._each(self._held, count)
            return
        fits = 0 < self._rows * len(items) // 8 <= self.memory
        tabulated: dict[int, ExpansionPoints] = {}

        def turned(part: SetColumn) -> tuple[BitColumns, R]:
            here = columns(part, items, _points(part, items, tabulated))
            return here, count(here)

        for _, (here, counted) in self._each(self.partitions(), turned):
            if fits:
                self._held.append(here)
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
