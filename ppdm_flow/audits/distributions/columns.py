"""How far one column moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.results import Chart, Series
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SUPPRESSED_TEXT

TOP = 20

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Shares of rows by value, before and after: ``values`` are texts, None for missing, ``⊥`` for suppressed."""

    values: tuple[str | None, ...]
    before: Floats
    after: Floats

    @property
    def distance(self) -> float:
        """Total variation distance: half the sum of absolute differences, in [0, 1]."""
        return 0.5 * float(np.abs(self.before - self.after).sum())

    @property
    def suppressed(self) -> float:
        """The share of suppressed cells in the release."""
        return float(self.after[self.values.index(SUPPRESSED_TEXT)]) if SUPPRESSED_TEXT in self.values else 0.0


def shares(original: DataView, source: str, candidate: DataView, column: str) -> Shares:
    """Count one column on both sides; missing and suppressed cells are values of their own."""
    before, after = _tally(original, source), _tally(candidate, column)
    values = tuple(sorted({*before, *after}, key=lambda v: (v is None, v == SUPPRESSED_TEXT, v or "")))
    return Shares(values, _over(before, values), _over(after, values))


def _tally(view: DataView, column: str) -> dict[str | None, int]:
    counts = view.counts((column,))
    names = [*counts.names(column).to_pylist(), SUPPRESSED_TEXT, None]  # read from the end: -2 and -1
    return {names[c]: n for c, n in zip(counts.of(column).tolist(), counts.counts.tolist(), strict=True) if n}


def _over(tally: dict[str | None, int], values: tuple[str | None, ...]) -> Floats:
    total = max(1, sum(tally.values()))
    return np.array([tally.get(v, 0) / total for v in values], dtype=np.float64)


def chart(column: str, attribute: str, found: Shares, ctx: AuditContext) -> Chart:
    """Return bars for at most twenty values, those with the largest share on either side first."""
    weight = np.maximum(found.before, found.after)
    order = np.argsort(-weight, kind="stable")[:TOP].tolist()
    rest = len(found.values) - len(order)
    return Chart(
        id=f"{column}.shares",
        title=f"{column}, before and after",
        kind="bars",
        x=tuple(_label(ctx, attribute, found.values[i], i + 1) for i in order),
        series=tuple(
            Series(name, tuple(float(values[i]) for i in order))
            for name, values in (("original", found.before), ("released", found.after))
        ),
        x_label="value",
        y_label="share of rows",
        note=f"{rest:,} further values are not shown" if rest else "",
        group=column,
    )


def _label(ctx: AuditContext, attribute: str, value: str | None, number: int) -> str:
    return "suppressed" if value == SUPPRESSED_TEXT else ctx.label(attribute, value, number)
