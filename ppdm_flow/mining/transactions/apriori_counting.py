"""Counting over partitions that are read anew for each itemset size, a few of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.counting import support_counts
from ppdm_flow.mining.transactions.operators import Operator
from ppdm_flow.mining.transactions.seeded_expansion import Points
from ppdm_flow.mining.transactions.vertical import columns, item_counts
from ppdm_flow.tables.sets import SeededSets, SetColumn

Integers = npt.NDArray[np.int64]
Partitions = Callable[[], Iterable[SetColumn]]
"""Gives the partitions of the randomized transactions; called once for each itemset size."""
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Counter:
    """Adds up counts by original size, in the order of ``operator.sizes``, on ``threads`` partitions at a time."""

    partitions: Partitions
    operator: Operator
    threads: int = 1

    def singles(self) -> tuple[Integers, Integers, int | None]:
        """Return rows (classes,), rows with each item (alphabet, classes), and up to how many items can be estimated.

        The last is None where there is no such limit: it is that of seeds.
        """
        alphabet = self.operator.alphabet
        rows = np.zeros(len(self.operator.sizes), dtype=np.int64)
        found = np.zeros((alphabet, len(rows)), dtype=np.int64)
        spare: int | None = None
        tabulated: dict[int, Points] = {}

        def count(part: SetColumn) -> tuple[Integers, Integers, Integers]:
            points = _points(part, np.arange(alphabet), tabulated)
            sizes, counts = item_counts(part, points)
            return self._classes(sizes), counts, np.array([np.sum(part.sizes == m) for m in sizes], dtype=np.int64)

        for part, (classes, counts, number) in self._each(count):
            found[:, classes] += counts.T
            rows[classes] += number
            if isinstance(part, SeededSets):
                spare = part.expansion.spare if spare is None else min(spare, part.expansion.spare)
        return rows, found, spare

    def itemsets(self, itemsets: Integers) -> Integers:
        """Return how many rows of each class have all items of each itemset (n, k): (n, classes)."""
        items, lines = np.unique(itemsets, return_inverse=True)
        lines = lines.reshape(itemsets.shape)
        found = np.zeros((len(itemsets), len(self.operator.sizes)), dtype=np.int64)
        tabulated: dict[int, Points] = {}

        def count(part: SetColumn) -> tuple[Integers, Integers]:
            here = columns(part, items, _points(part, items, tabulated))
            return self._classes(here.sizes), support_counts(here, lines)

        for _, (classes, counts) in self._each(count):
            found[:, classes] += counts
        return found

    def _each(self, count: Callable[[SetColumn], R]) -> Iterator[tuple[SetColumn, R]]:
        parts = iter(self.partitions())
        with ThreadPoolExecutor(self.threads) as pool:
            while some := list(islice(parts, self.threads)):
                yield from zip(some, pool.map(count, some), strict=True)

    def _classes(self, sizes: Integers) -> Integers:
        known = np.array(self.operator.sizes)
        at = np.minimum(np.searchsorted(known, sizes), len(known) - 1)
        if (known[at] != sizes).any():
            raise DataError(
                Diagnostic("PPF774", "a randomized transaction has a size that the operator says nothing of")
            )
        return at


def _points(part: SetColumn, items: Integers, tabulated: dict[int, Points]) -> Points | None:
    """Tabulate the items once for each width of seeds."""
    if not isinstance(part, SeededSets):
        return None
    width = part.expansion.width
    if width not in tabulated:
        tabulated[width] = Points.of(items, width)
    return tabulated[width]
