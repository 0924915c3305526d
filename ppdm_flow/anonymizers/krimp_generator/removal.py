"""Correlations that the model must not have: candidates with two of the named attributes or values are left out.

Vreeken, van Leeuwen, Siebes, ICDM 2007, section 6. Two named values then never come from one element. What can still
connect them is which elements fit beside each other: `dependence` measures it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.mining.itemsets.collection import Itemsets
from ppdm_flow.mining.itemsets.tabular import Tabular

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """``groups`` are masks over items, each (items,); ``absent`` counts named values that the data do not have."""

    groups: tuple[Bools, ...]
    absent: int

    def hit(self, itemsets: Itemsets) -> Bools:
        """Return which itemsets have two items or more of one group, shape (itemsets,)."""
        found = np.zeros(len(itemsets), dtype=bool)
        for group in self.groups:
            sums = np.concatenate([[0], np.cumsum(group[itemsets.items])])
            found |= np.diff(sums[itemsets.offsets]) > 1
        return found


def removal(
    groups: tuple[tuple[tuple[str, tuple[str, ...] | None], ...], ...],
    columns: tuple[str, ...],
    categories: tuple[pa.StringArray, ...],
    tabular: Tabular,
) -> Removal:
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
    return Removal(tuple(masks), absent)
