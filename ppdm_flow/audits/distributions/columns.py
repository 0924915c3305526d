"""How far one column moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.results import Chart, Series
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.domain import union

TOP = 20

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Shares of rows by value, ``before`` and ``after``, shape (values + 2,): suppressed, missing, then ``names``."""

    names: pa.StringArray
    before: Floats
    after: Floats

    @property
    def distance(self) -> float:
        """Total variation distance: half the sum of absolute differences, in [0, 1]."""
        return 0.5 * float(np.abs(self.before - self.after).sum())

    @property
    def suppressed(self) -> float:
        """The share of suppressed cells in the release."""
        return float(self.after[SUPPRESSED + SPECIALS])

    def label(self, place: int, ctx: AuditContext, attribute: str, number: int) -> str:
        """Return how the value at ``place`` may be shown."""
        if place == SUPPRESSED + SPECIALS:
            return "suppressed"
        value = None if place == MISSING + SPECIALS else self.names[place - SPECIALS].as_py()
        return ctx.label(attribute, value, number)


def shares(original: DataView, source: str, candidate: DataView, column: str) -> Shares:
    """Count one column on both sides; missing and suppressed cells are values of their own."""
    before, after = original.counts((source,)), candidate.counts((column,))
    names = union((before.names(source), after.names(column)))
    return Shares(names, _over(before, source, names), _over(after, column, names))


def _over(counts: Counts, column: str, names: pa.StringArray) -> Floats:
    codes = Column(np.ascontiguousarray(counts.of(column)), counts.names(column)).onto(names).dense
    rows = np.bincount(codes, weights=counts.counts, minlength=len(names) + SPECIALS)
    share: Floats = rows / max(1.0, rows.sum())
    return share


def chart(column: str, attribute: str, found: Shares, ctx: AuditContext) -> Chart:
    """Return bars for at most twenty values, those with the largest share on either side first."""
    weight = np.maximum(found.before, found.after)
    order = [i for i in np.argsort(-weight, kind="stable")[:TOP].tolist() if weight[i] > 0]
    rest = int((weight > 0).sum()) - len(order)
    return Chart(
        id=f"{column}.shares",
        title=f"{column}, before and after",
        kind="bars",
        x=tuple(found.label(place, ctx, attribute, i + 1) for i, place in enumerate(order)),
        series=tuple(
            Series(name, tuple(float(values[i]) for i in order))
            for name, values in (("original", found.before), ("released", found.after))
        ),
        x_label="value",
        y_label="share of rows",
        note=f"{rest:,} further values are not shown" if rest else "",
        group=column,
    )
