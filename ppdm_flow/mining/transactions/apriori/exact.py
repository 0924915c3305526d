"""Frequent itemsets of transactions that were not randomized, size by size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.mine import mine_transactions
from ppdm_flow.mining.transactions.apriori.counting import Partitions
from ppdm_flow.mining.transactions.apriori.levels import Level, places
from ppdm_flow.mining.transactions.counting.counting import support_counts
from ppdm_flow.mining.transactions.counting.vertical import columns
from ppdm_flow.tables.sets import Baskets

Integers = npt.NDArray[np.int64]


def exact(baskets: Baskets, least: int, longest: int | None = None) -> list[Level]:
    """Return the itemsets that at least ``least`` rows hold, one level for each size from 1; counts are (n, 1).

    Items are places in the alphabet of ``baskets``. Raises PluginError PPF775 for too many.
    """
    if not len(baskets):
        return []
    alphabet = max(1, len(baskets.categories))
    found = mine_transactions(baskets.offsets, baskets.items, least, alphabet=alphabet, max_length=longest)
    found = found.take(found.lexicographic())
    levels: list[Level] = []
    for size in range(1, int(found.lengths.max(initial=0)) + 1):
        here = found.take(np.flatnonzero(found.lengths == size))
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
