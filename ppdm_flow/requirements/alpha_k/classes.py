"""The alpha of (alpha, k)-anonymity of every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.mining.recoding.grouping import RowGrouping, largest, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, Floats, SensitiveColumns, exceeding
from ppdm_flow.requirements.alpha_k.requirement import AlphaK


@dataclass(frozen=True, slots=True)
class AlphaBounded(ClassModel):
    """No value has a share above ``alpha`` (Wong et al. 2006): the alpha of (alpha, k)-anonymity.

    ``values``: the codes that it is about; empty for all.
    """

    attribute: int
    alpha: float
    values: tuple[int, ...] = ()
    figure: ClassVar[PeopleFigure] = PeopleFigure.CONFIDENCE

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare the largest share."""
        return self._largest(grouping) <= self.alpha + SLACK

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """The largest share is convex and at most 1."""
        return exceeding(self._largest(grouping), np.array(self.alpha))

    def _largest(self, grouping: RowGrouping) -> Floats:
        cells = grouping.cells[self.attribute]
        share = shares(cells, grouping.sizes)
        return largest(
            cells.begins, share if not self.values else np.where(np.isin(cells.value, self.values), share, 0.0)
        )


def models(requirement: AlphaK, columns: SensitiveColumns) -> list[AlphaBounded]:
    """Return what a class must keep."""
    at = columns.place(requirement.attribute)
    return [AlphaBounded(at, requirement.alpha, columns.codes(requirement.attribute, requirement.values))]
