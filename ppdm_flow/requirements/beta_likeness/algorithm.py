"""The measured beta of a release: the largest (share in a class - share in the table) / share in the table.

Source: Cao, Karras, PVLDB 5(11), 2012, definition 2 (basic beta-likeness).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ppdm_flow.mining.classes.audit import SensitiveAudit
from ppdm_flow.mining.classes.class_metric import ColumnFigures, Floats, Names
from ppdm_flow.mining.classes.wording import beyond, known_by
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.recoding.grouping import RowGrouping, largest, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, SensitiveColumns, exceeding
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.sdk.audit import AuditContext


class BetaLikenessAudit(SensitiveAudit[BetaLikeness]):
    """Compares the share of each value in each class with its share in the whole table."""

    kind = BetaLikeness
    metric = "beta"
    unit = "times"
    at_most = True

    def bound(self, requirement: BetaLikeness) -> float:
        """Return beta."""
        return requirement.beta

    def each(self, requirement: BetaLikeness, histograms: Histograms, ctx: AuditContext) -> Floats:
        """Return the largest relative gain in each class; some value never loses, so it is at least 0."""
        del requirement, ctx
        gain = shares(histograms.cells, histograms.sizes) / histograms.base[histograms.cells.value] - 1.0
        return np.asarray(largest(histograms.cells.begins, np.maximum(gain, 0.0)), dtype=np.float64)

    def query(self, requirement: BetaLikeness, names: Names, ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return the largest gain of each class."""
        del requirement, names, ctx
        return _QUERY, []

    def sentence(self, judged: ColumnFigures[BetaLikeness], value: float) -> str:
        """Return by how much frequencies rise."""
        requirement = judged.requirement
        rows = int(judged.histograms.rows[judged.beyond(requirement.beta, at_most=True)].sum())
        return (
            f"{known_by(judged.grouping)} finds no value of `{judged.column}` more than {1 + value:.4g} times as"
            f" frequent as in the whole release (beta {value:.4g}; at most {requirement.beta:g} is allowed)."
            f"{beyond(rows, judged.histograms.total)}"
        )


_QUERY = """
    SELECT id, MAX(GREATEST(n / size / q - 1, 0)) AS v FROM cells JOIN sizes USING (id)
    JOIN base ON base.s IS NOT DISTINCT FROM cells.s GROUP BY id"""


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
