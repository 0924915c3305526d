"""The mean support of the itemsets that a generated table has and the original has not, as the authors count it.

Their later, published program (its task ``compareiscs``) goes through both collections by length. It adds the support
of a new itemset when it comes upon a longer one of the original, but divides by the number of all new itemsets: those
that are as long as the original's longest are counted and add nothing. At a minimum support of 1 these are whole rows.
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.comparison import matched
from ppdm_flow.mining.itemsets.collection import ItemsetCollection


def mean_supports(known: ItemsetCollection, mined: ItemsetCollection) -> tuple[float, float]:
    """Return the mean support of the new itemsets, in rows, as the program counts it and as it is; 0 if none is new."""
    new = np.ones(len(mined), dtype=np.bool_)
    new[matched(known, mined)[1]] = False
    if not new.any():
        return 0.0, 0.0
    supports = mined.supports[new]
    added = supports[mined.lengths[new] < known.lengths.max(initial=0)]
    return float(added.sum()) / len(supports), float(supports.mean())
