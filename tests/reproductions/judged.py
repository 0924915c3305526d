"""Measured figures held against printed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from causes import larger
from means import Larger, Mean, Values, means_of
from printed import EXACT, PRINTED, TABLES


@dataclass(frozen=True)
class Row:
    """The mean of some runs, or the larger of two: ``low`` and ``high`` are its 95 per cent interval.

    ``least`` and ``most`` are single runs.
    """

    id: str
    paper: float | None
    measured: float
    low: float | None
    high: float | None
    runs: int
    least: float
    most: float

    @classmethod
    def of(cls, name: str, mean: Mean | Larger) -> Row:
        printed = EXACT.get(name, PRINTED[name].value if name in PRINTED else None)
        low, high = (mean.low, mean.high) if mean.runs > 1 else (None, None)
        return cls(name, printed, mean.value, low, high, mean.runs, mean.least, mean.most)

    @property
    def met(self) -> bool | None:
        """Whether the paper's figure is met; None where it has none, or where one run says nothing of a mean."""
        if self.id in EXACT:
            return round(self.measured) == EXACT[self.id]
        if self.id not in PRINTED or self.low is None or self.high is None:
            return None
        return PRINTED[self.id].meets(self.low, self.high)

    @property
    def factor(self) -> float:
        """The measured mean over the printed figure."""
        return self.measured / self.paper if self.paper else float("nan")

    def __str__(self) -> str:
        form = "{:,.0f}" if self.id in EXACT else "{:.1f}" if self.id.endswith("seconds") else "{:.3f}"
        paper = "" if self.paper is None else form.format(self.paper)
        spread = self.low is not None and self.high is not None and self.least < self.most
        ends = f"{form.format(self.low)} to {form.format(self.high)}" if spread else ""
        verdict = {True: "met", False: f"OFF, {self.factor:.2f} times", None: ""}[self.met]
        return f"{self.id:<34} {paper:>9} {form.format(self.measured):>9}  {ends:<18} {verdict}".rstrip()


FEW = 2
"""Runs that say nothing of how far others may lie."""
HEAD = f"{'id':<34} {'paper':>9} {'measured':>9}  {'interval of mean':<18} verdict"


def deviations(rows: Sequence[Row], values: Mapping[str, Values]) -> list[str]:
    """Return a line for each figure that is off, with what is known of why."""
    return [_explained(row, rows, values[row.id.partition(".")[0]]) for row in rows if row.met is False]


def _explained(row: Row, rows: Sequence[Row], values: Values) -> str:
    name, _, figure = row.id.partition(".")
    words, means = [f"{row.id}: {row.measured:.3g}, {row.factor:.2f} times the printed {row.paper:g}"], means_of(values)
    if figure == "dissimilarity" and "bootstrap" in values:
        parts = ", ".join(f"{cause} {mean.value:.4f}" for cause, mean in larger(name, values).causes.items())
        words.append(f"of it {parts}; a bootstrap of the original has {means['bootstrap'].value:.3f}")
    words.append(_figures_sql(row.id, f"the mean of {TABLES} runs, as printed, comes to", *means[figure].again(TABLES)))
    other = means.get(f"shuffled.{figure}")
    if other and other.runs > FEW:
        said = f"with other numbers of items and orders of columns it is {other.value:.3g} on average, in single tables"
        words.append(_figures_sql(row.id, said, other.least, other.most))
    if figure in ("nas", "rare_in_original"):
        further = {other.id.rpartition(".")[0].rpartition(".")[2]: other for other in rows if _scored(other, row)}
        words += [f"at a minimum support of {least} it is {other.measured:.3g}" for least, other in further.items()]
    return "; ".join(words)


def _scored(other: Row, row: Row) -> bool:
    """Whether a row is the same figure of the same data at another minimum support."""
    name, _, figure = row.id.partition(".")
    return other.id.startswith(f"figure4.{name}.") and other.id.endswith(f".{figure}")


def _figures_sql(name: str, said: str, low: float, high: float) -> str:
    inside = "within" if PRINTED[name].meets(low, high) else "OUTSIDE of"
    return f"{said} {low:.3g} to {high:.3g}, which the printed figure lies {inside}"
