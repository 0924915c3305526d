"""LKC-privacy of classes that all attributes form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.recoding.grouping import RowGrouping, added, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, Floats, KAnonymous, SensitiveColumns, exceeding
from ppdm_flow.requirements.lkc.requirement import LKC


@dataclass(frozen=True, slots=True)
class UnionBounded(ClassModel):
    """Any of ``values`` (codes) has a share of at most ``most``, all of them together (Mohammed et al. 2009)."""

    attribute: int
    most: float
    values: tuple[int, ...]

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare the sum of their shares."""
        return self._together(grouping) <= self.most + SLACK

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """A sum of shares is linear and at most 1."""
        return exceeding(self._together(grouping), np.array(self.most))

    def _together(self, grouping: RowGrouping) -> Floats:
        cells = grouping.cells[self.attribute]
        named = np.isin(cells.value, self.values)
        return added(cells, np.where(named, shares(cells, grouping.sizes), 0.0))


def models(requirement: LKC, columns: SensitiveColumns) -> list[ClassModel]:
    """Return what a class must keep: k, and c for the values of each sensitive attribute together."""
    bounded: list[ClassModel] = [KAnonymous(requirement.k)]
    if requirement.c is not None:
        for name in requirement.secrets:
            values = [value for attribute, value in requirement.pairs if attribute == name]
            bounded.append(UnionBounded(columns.place(name), requirement.c, columns.codes(name, values)))
    return bounded
