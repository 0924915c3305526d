"""Itemsets that were counted, size by size: joining, pruning and finding them again, on whole arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets.mine import mine_transactions
from ppdm_flow.mining.transactions.apriori.counting import Partitions
from ppdm_flow.mining.transactions.counting.counting import exactly, support_counts
from ppdm_flow.mining.transactions.counting.vertical import columns
from ppdm_flow.tables.sets import Baskets

Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST = 20_000_000
"""Candidates of one size that are tried at most."""

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
