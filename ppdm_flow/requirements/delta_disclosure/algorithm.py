"""The measured delta of a release: the largest |ln(share in a class / share in the table)|.

Source: Brickell, Shmatikov, KDD 2008. A class without some value of the table has no finite delta.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure
from ppdm_flow.mining.classes.audit import SensitiveAudit
from ppdm_flow.mining.classes.class_metric import ColumnFigures, Floats, Names
from ppdm_flow.mining.classes.wording import beyond, known_by
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.recoding.grouping import RowGrouping, distinct, largest, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, SensitiveColumns, clipped, exceeding
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.sdk.audit import AuditContext


class DeltaDisclosureAudit(SensitiveAudit[DeltaDisclosure]):
    """Compares the share of each value in each class with its share in the whole table."""

    kind = DeltaDisclosure
    metric = "delta"
    unit = "nats"
    at_most = True

    def bound(self, requirement: DeltaDisclosure) -> float:
        """Return delta."""
        return requirement.delta

    def each(self, requirement: DeltaDisclosure, histograms: Histograms, ctx: AuditContext) -> Floats:
        """Return the delta of each class, infinite where it lacks a value."""
        del requirement, ctx
        cells = histograms.cells
        ratio = np.abs(np.log(shares(cells, histograms.sizes) / histograms.base[cells.value]))
        return np.where(_complete(histograms), largest(cells.begins, ratio), np.inf)

    def query(self, requirement: DeltaDisclosure, names: Names, ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return the delta of each class."""
        del requirement, names, ctx
        text = """
            SELECT id, CASE WHEN COUNT(*) = (SELECT COUNT(*) FROM base) THEN MAX(ABS(LN(n / size / q))) END AS v
            FROM cells JOIN sizes USING (id) JOIN base ON base.s IS NOT DISTINCT FROM cells.s GROUP BY id"""  # a number
        return text, []

    def further(self, judged: ColumnFigures[DeltaDisclosure]) -> Mapping[str, Figure]:
        """Return how many classes lack a value."""
        return {"classes_lacking_a_value": Figure(int((~_complete(judged.histograms)).sum()), "classes")}

    def without(self, judged: ColumnFigures[DeltaDisclosure]) -> str:
        """Return that a value is absent from some class."""
        lacking = int((~_complete(judged.histograms)).sum())
        if not lacking:
            return super().without(judged)
        return (
            f"{counted(lacking, 'class') if lacking == 1 else f'{lacking:,} classes'} of {len(judged.histograms):,}"
            f" lack a value of `{judged.column}` that others have, so its members are known not to have it: no"
            " delta is large enough."
        )

    def sentence(self, judged: ColumnFigures[DeltaDisclosure], value: float) -> str:
        """Return by how much frequencies differ."""
        requirement = judged.requirement
        rows = int(judged.histograms.rows[judged.beyond(requirement.delta, at_most=True)].sum())
        return (
            f"{known_by(judged.grouping)} finds no value of `{judged.column}` more than {np.exp(value):.4g} times as"
            f" frequent, or as rare, as in the whole release (delta {value:.4g}; at most {requirement.delta:g} is"
            f" allowed).{beyond(rows, judged.histograms.total)}"
        )


def _complete(histograms: Histograms) -> Any:
    return distinct(histograms.cells) == np.count_nonzero(histograms.base)


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
