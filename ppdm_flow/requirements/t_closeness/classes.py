"""t-closeness of every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping, added, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, Floats, SensitiveColumns, exceeding
from ppdm_flow.requirements.t_closeness.ranked_codes import ranks
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness

Ints = npt.NDArray[np.int64]
_DENSE = 1 << 22
"""Cells of a dense matrix that is made at a time."""


@dataclass(frozen=True, slots=True)
class CloseClass(ClassModel):
    """Earth mover's distance to the whole table of at most ``t`` (Li, Li, Venkatasubramanian 2007).

    ``ordered``: the values are in order of their codes, a step between neighbours costs 1 / (values - 1); else all
    values are equally far from each other.
    """

    attribute: int
    t: float
    ordered: bool = False
    compares: ClassVar[bool] = True

    def keeps(self, grouping: RowGrouping, base: Floats) -> Bools:
        """Compare distances."""
        return self._distances(grouping, base) <= self.t + SLACK

    def lost(self, grouping: RowGrouping, base: Floats, drift: float) -> Floats:
        """The distance is convex and at most 1."""
        return exceeding(self._distances(grouping, base), np.array(self.t + drift))

    def _distances(self, grouping: RowGrouping, base: Floats) -> Floats:
        distances = _ordered_distances if self.ordered else equal_distances
        return distances(grouping.cells[self.attribute], grouping.sizes, base)


def equal_distances(cells: ClassCells, sizes: Ints, base: Floats) -> Floats:
    """Return half the sum of |p - q|: the sum of what p has more than q."""
    gain = np.maximum(shares(cells, sizes) - base[cells.value], 0.0)
    return added(cells, gain)


def _ordered_distances(cells: ClassCells, sizes: Ints, base: Floats) -> Floats:
    """Return the sum of |cumulated p - q| over m - 1, for m values in order of their codes."""
    m = len(base)
    out = np.zeros(len(sizes))
    if m < 2:
        return out
    share, owner, target = shares(cells, sizes), cells.owner, np.cumsum(base)[:-1]
    step = max(1, _DENSE // m)
    for start in range(0, len(sizes), step):
        stop = min(start + step, len(sizes))
        here = slice(cells.begins[start], cells.begins[stop])
        dense = np.zeros((stop - start, m))
        dense[owner[here] - start, cells.value[here]] = share[here]
        out[start:stop] = np.abs(np.cumsum(dense, axis=1)[:, :-1] - target).sum(axis=1) / (m - 1)
    return out


def models(requirement: TCloseness, columns: SensitiveColumns) -> list[CloseClass]:
    """Return what a class must keep."""
    name = requirement.attribute
    if requirement.distance is Distance.EQUAL:
        return [CloseClass(columns.place(name), requirement.t)]
    codes, size = ranks(columns.counts, requirement, columns.facts(name))
    return [CloseClass(columns.add(f"{name} by rank", codes, size), requirement.t, ordered=True)]
