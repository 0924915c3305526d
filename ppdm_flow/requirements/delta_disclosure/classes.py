"""delta-disclosure of every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ppdm_flow.mining.recoding.grouping import RowGrouping, distinct, largest, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, Floats, SensitiveColumns, clipped, exceeding
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure


@dataclass(frozen=True, slots=True)
class DeltaDisclosing(ClassModel):
    """|ln(share in the class / share in the table)| of at most ``delta`` for every value (Brickell, Shmatikov 2008)."""

    attribute: int
    delta: float
    compares: ClassVar[bool] = True

    def keeps(self, grouping: RowGrouping, base: Floats) -> Bools:
        """Compare ratios; a value of the table that a class lacks breaks it."""
        cells = grouping.cells[self.attribute]
        with np.errstate(divide="ignore"):  # a value that only suppressed classes have
            ratio = np.abs(np.log(shares(cells, grouping.sizes) / base[cells.value]))
        complete = distinct(cells) == np.count_nonzero(base)
        return np.asarray(complete & (largest(cells.begins, ratio) <= self.delta + SLACK))

    def lost(self, grouping: RowGrouping, base: Floats, drift: float) -> Floats:
        """Each value's share has an upper and a lower limit, and is linear; absent ones are left out here."""
        cells = grouping.cells[self.attribute]
        share, of_table, factor = shares(cells, grouping.sizes), base[cells.value], np.exp(self.delta)
        least = np.maximum(of_table - drift, 0.0) / factor
        below = clipped(1.0 - SLACK - share / np.where(least > 0, least, 1.0)) * (least > 0)
        return largest(cells.begins, np.maximum(exceeding(share, (of_table + drift) * factor), below))


def models(requirement: DeltaDisclosure, columns: SensitiveColumns) -> list[DeltaDisclosing]:
    """Return what a class must keep."""
    return [DeltaDisclosing(columns.place(requirement.attribute), requirement.delta)]
