"""The measured alpha of a release: the largest share of a sensitive value in a class (Wong, Li, Fu, Wang, KDD 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.mining.classes.audit import SensitiveAudit
from ppdm_flow.mining.classes.class_metric import ColumnFigures, Floats, Names
from ppdm_flow.mining.classes.wording import beyond, known_by
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.recoding.grouping import RowGrouping, largest, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, SensitiveColumns, exceeding
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import SPECIALS


class AlphaKAudit(SensitiveAudit[AlphaK]):
    """Counts the sensitive values of each class."""

    kind = AlphaK
    metric = "alpha"
    unit = "share"
    at_most = True

    def bound(self, requirement: AlphaK) -> float:
        """Return alpha."""
        return requirement.alpha

    def each(self, requirement: AlphaK, histograms: Histograms, ctx: AuditContext) -> Floats:
        """Return the largest share of a value in each class; without named values a mark is one as well."""
        del ctx
        share = shares(histograms.cells, histograms.sizes)
        if requirement.values:
            meant = np.isin(histograms.names.to_pylist(), requirement.values)
            share = np.where(np.concatenate([np.zeros(SPECIALS, np.bool_), meant])[histograms.cells.value], share, 0.0)
        return np.asarray(largest(histograms.cells.begins, share), dtype=np.float64)

    def people_figure(self, _requirement: AlphaK) -> PeopleFigure:
        """Return that a share of rows or of people counts."""
        return PeopleFigure.CONFIDENCE

    def query(self, requirement: AlphaK, names: Names, ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return the largest share of each class."""
        del names, ctx
        if not requirement.values:
            return "SELECT id, MAX(n / size) AS v FROM cells JOIN sizes USING (id) GROUP BY id", []
        chosen = "MAX(n / size) FILTER (LIST_CONTAINS(?::VARCHAR[], s))"
        text = f"SELECT id, COALESCE({chosen}, 0) AS v FROM cells JOIN sizes USING (id) GROUP BY id"  # noqa: S608  # a parameter
        return text, [list(requirement.values)]

    def sentence(self, judged: ColumnFigures[AlphaK], value: float) -> str:
        """Return what the most homogeneous class gives away."""
        requirement = judged.requirement
        rows = int(judged.histograms.rows[judged.beyond(requirement.alpha, at_most=True)].sum())
        which = "one of the named values" if requirement.values else "one value"
        return (
            f"{known_by(judged.grouping)} can infer {which} of `{judged.column}` with a confidence of at most"
            f" {value:.4g}; at most {requirement.alpha:g} is allowed.{beyond(rows, judged.histograms.total)}"
        )


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
