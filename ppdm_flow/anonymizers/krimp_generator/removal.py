"""Correlations that the model must not have, and the dependence that is left after their removal.

Vreeken, van Leeuwen, Siebes, ICDM 2007, section 6. Two named values then never come from one element. What can still
connect them is which elements fit beside each other: `dependence` measures it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.tabular import Tabular

Bools = npt.NDArray[np.bool_]

Cells = npt.NDArray[np.int32]
Weights = npt.NDArray[np.int64]

NOTABLE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class DependenceRemoval:
    """``groups`` are masks over items, each (items,); ``absent`` counts named values that the data do not have."""

    groups: tuple[Bools, ...]
    absent: int

    def hit(self, itemsets: ItemsetCollection) -> Bools:
        """Return which itemsets have two items or more of one group, shape (itemsets,)."""
        hits = np.zeros(len(itemsets), dtype=bool)
        for group in self.groups:
            sums = np.concatenate([[0], np.cumsum(group[itemsets.items])])
            hits |= np.diff(sums[itemsets.offsets]) > 1
        return hits


def removal(
    groups: tuple[tuple[tuple[str, tuple[str, ...] | None], ...], ...],
    columns: tuple[str, ...],
    categories: tuple[pa.StringArray, ...],
    tabular: Tabular,
) -> DependenceRemoval:
    """Turn names into items."""
    masks, absent = [], 0
    for group in groups:
        mask = np.zeros(tabular.database.items, dtype=bool)
        for name, values in group:
            place = columns.index(name)
            here = tabular.attribute == place
            if values is None:
                mask |= here
                continue
            codes = [categories[place].index(pa.scalar(v, pa.string())).as_py() for v in values]
            known = np.isin(tabular.code, [c for c in codes if c >= 0]) & here
            absent += len(values) - int(known.sum())
            mask |= known
        masks.append(mask)
    return DependenceRemoval(tuple(masks), absent)


@dataclass(frozen=True, slots=True)
class LargestDependence:
    """The largest Cramér's V between two attributes of one group, in the original and in a sample of drafts."""

    before: float
    after: float


def dependence(removal: DependenceRemoval, tabular: Tabular, drafts: Cells) -> LargestDependence:
    """Look at all pairs of attributes within the groups; ``drafts`` (rows, attributes) are items.

    Values that a group does not name count as one.
    """
    database = tabular.database
    ones = np.ones(len(drafts), dtype=np.int64)
    before, after = 0.0, 0.0
    for group in removal.groups:
        places = np.unique(tabular.attribute[group]).tolist()
        for pair in combinations(places, 2):
            before = max(before, _of_pair(group, pair, database.cells, database.weights))
            after = max(after, _of_pair(group, pair, drafts, ones))
    return LargestDependence(before, after)


def _of_pair(group: npt.NDArray[np.bool_], pair: tuple[int, int], cells: Cells, weights: Weights) -> float:
    one, other = (np.where(group[cells[:, p]], cells[:, p], -1) for p in pair)
    return cramers_v(one, other, weights)


def cramers_v(one: npt.NDArray[np.integer], other: npt.NDArray[np.integer], weights: Weights) -> float:
    """Return Cramér's V with Bergsma's correction of its bias (J. Korean Stat. Soc. 42, 2013), in [0, 1]."""
    _, rows = np.unique(one, return_inverse=True)
    _, columns = np.unique(other, return_inverse=True)
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    total = int(weights.sum())
    if min(height, width) < 2 or total < 2:
        return 0.0
    cells, place = np.unique(rows.astype(np.int64) * width + columns, return_inverse=True)
    joint = np.bincount(place, weights)
    expected = np.bincount(rows, weights)[cells // width] * np.bincount(columns, weights)[cells % width]
    phi = float((joint**2 / expected).sum()) - 1
    phi = max(0.0, phi - (height - 1) * (width - 1) / (total - 1))
    least = min(k - (k - 1) ** 2 / (total - 1) for k in (height, width)) - 1
    return min(1.0, (phi / least) ** 0.5) if least > 0 else 0.0
