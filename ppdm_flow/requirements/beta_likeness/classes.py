"""beta-likeness of every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ppdm_flow.mining.recoding.grouping import RowGrouping, largest, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, Floats, SensitiveColumns, exceeding
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness


@dataclass(frozen=True, slots=True)
class BetaLike(ClassModel):
    """(share in the class - share in the table) / share in the table of at most ``beta`` (Cao, Karras 2012, basic)."""

    attribute: int
    beta: float
    compares: ClassVar[bool] = True

    def keeps(self, grouping: RowGrouping, base: Floats) -> Bools:
        """Compare relative gains."""
        cells = grouping.cells[self.attribute]
        with np.errstate(divide="ignore"):  # a value that only suppressed classes have
            gain = shares(cells, grouping.sizes) / base[cells.value] - 1.0
        return largest(cells.begins, gain) <= self.beta + SLACK

    def lost(self, grouping: RowGrouping, base: Floats, drift: float) -> Floats:
        """A share is linear and at most 1."""
        cells = grouping.cells[self.attribute]
        most = (base[cells.value] + drift) * (1.0 + self.beta)
        return largest(cells.begins, exceeding(shares(cells, grouping.sizes), most))


def models(requirement: BetaLikeness, columns: SensitiveColumns) -> list[BetaLike]:
    """Return what a class must keep."""
    return [BetaLike(columns.place(requirement.attribute), requirement.beta)]
