"""Earth mover's distances from each class to the whole table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.classes.histograms import Floats, Histograms
from ppdm_flow.mining.recoding.grouping import Cells
from ppdm_flow.mining.recoding.measures import added, equal_distances, ordered_distances, shares
from ppdm_flow.tables.column import SPECIALS

Ranks = npt.NDArray[np.int64]


def equal(found: Histograms) -> Floats:
    """Return half the sum of |p - q|."""
    return equal_distances(found.cells, found.sizes, found.base)


def ordered(found: Histograms, rank: Ranks, ranks: int) -> Floats:
    """Return the distance where moving by all ``ranks`` but one costs 1; ``rank`` (names,) is -1 for absent names.

    Marks (suppressed, missing) are as far from each other, and from every value, as the lowest from the highest. What
    they differ by is moved first, and the values then in proportion: at least the earth mover's distance, and equal
    to it where there is no mark.
    """
    cells = found.cells
    marked = cells.value < SPECIALS
    gain = _marks(found)
    values = Cells(
        _begins(found, ~marked), rank[cells.value[~marked] - SPECIALS].astype(np.int32), cells.count[~marked]
    )
    known = added(values, values.count.astype(np.float64))
    base = np.zeros(ranks)
    there = rank >= 0
    base[rank[there]] = found.base[SPECIALS:][there]
    share, of_table = known / np.maximum(found.sizes, 1), float(base.sum())
    if of_table <= 0.0:
        return gain
    apart = ordered_distances(values, known.astype(np.int64), base / of_table)
    return gain + np.where(known > 0, np.minimum(share, of_table) * apart, 0.0)


def _marks(found: Histograms) -> Floats:
    """Return how much must go to marks, or come from them, at the cost of 1."""
    cells = found.cells
    marked = cells.value < SPECIALS
    difference = np.zeros((len(found), SPECIALS))
    share = shares(cells, found.sizes)
    difference[cells.owner[marked], cells.value[marked]] = share[marked]
    difference -= found.base[:SPECIALS]
    more = np.maximum(difference, 0.0).sum(axis=1)
    less = np.maximum(-difference, 0.0).sum(axis=1)
    return np.asarray(np.maximum(more, less))


def _begins(found: Histograms, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    total = np.concatenate([[0], np.cumsum(kept)])
    return np.asarray(total[found.cells.begins], dtype=np.int64)
