"""Earth mover's distances from each class to the whole table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.histograms import Floats, Histograms
from ppdm_flow.mining.recoding.grouping import ClassCells, added, shares
from ppdm_flow.requirements.t_closeness.classes import equal_distances
from ppdm_flow.tables.column import SPECIALS

Ranks = npt.NDArray[np.int64]


def equal(histograms: Histograms) -> Floats:
    """Return half the sum of |p - q|."""
    return equal_distances(histograms.cells, histograms.sizes, histograms.base)


def ordered(histograms: Histograms, rank: Ranks, ranks: int) -> Floats:
    """Return the distance where moving by all ``ranks`` but one costs 1; ``rank`` (names,) is -1 for absent names.

    Marks (suppressed, missing) are as far from each other, and from every value, as the lowest from the highest. What
    they differ by is moved first, and the values then in proportion: at least the earth mover's distance, and equal
    to it where there is no mark.
    """
    cells = histograms.cells
    marked = cells.value < SPECIALS
    gain = _marks(histograms)
    values = ClassCells(
        _begins(histograms, ~marked), rank[cells.value[~marked] - SPECIALS].astype(np.int32), cells.count[~marked]
    )
    known = added(values, values.count.astype(np.float64))
    base = np.zeros(ranks)
    there = rank >= 0
    base[rank[there]] = histograms.base[SPECIALS:][there]
    share, of_table = known / np.where(histograms.sizes > 0, histograms.sizes, 1), float(base.sum())
    if of_table <= 0.0:
        return gain
    apart = _apart(values, known, np.cumsum(base / of_table))
    return gain + np.where(known > 0, np.minimum(share, of_table) * apart, 0.0)


def _apart(cells: ClassCells, sizes: Floats, table: Floats) -> Floats:
    """Return the sum of |p - q| over all ranks but the last, by (ranks - 1), for cumulated shares p and ``table``.

    Between two ranks that a class has, p is constant, and q rises and crosses it once: sums of q give the rest, so that
    the work is that of the cells, however many ranks there are.
    """
    ranks = len(table)
    if ranks < 2 or not len(cells.count):
        return np.zeros(len(sizes))
    owner = cells.owner
    order = np.lexsort((cells.value, owner))
    begin, count = cells.value[order].astype(np.int64), cells.count[order].astype(np.float64)
    total = np.cumsum(count)
    before = np.concatenate([[0.0], total])[cells.begins[:-1]]
    share = (total - before[owner]) / sizes[owner]
    end = np.append(begin[1:], ranks)
    end[cells.begins[1:][np.diff(cells.begins) > 0] - 1] = ranks
    below = np.concatenate([[0.0], np.cumsum(table)])
    crossing = np.clip(np.searchsorted(table, share), begin, end)
    part = share * (2 * crossing - begin - end) + below[begin] + below[end] - 2 * below[crossing]
    first = np.zeros(len(sizes))
    some = np.diff(cells.begins) > 0
    first[some] = below[begin[cells.begins[:-1][some]]]
    return np.asarray((np.bincount(owner, part, len(sizes)) + first) / (ranks - 1))


def _marks(histograms: Histograms) -> Floats:
    """Return how much must go to marks, or come from them, at the cost of 1."""
    cells = histograms.cells
    marked = cells.value < SPECIALS
    difference = np.zeros((len(histograms), SPECIALS))
    share = shares(cells, histograms.sizes)
    difference[cells.owner[marked], cells.value[marked]] = share[marked]
    difference -= histograms.base[:SPECIALS]
    more = np.maximum(difference, 0.0).sum(axis=1)
    less = np.maximum(-difference, 0.0).sum(axis=1)
    return np.asarray(np.maximum(more, less))


def _begins(histograms: Histograms, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    total = np.concatenate([[0], np.cumsum(kept)])
    return np.asarray(total[histograms.cells.begins], dtype=np.int64)
