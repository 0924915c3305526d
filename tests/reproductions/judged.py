"""Measured figures held against printed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from averaging import TABLES
from causes import Values, splits
from means import Mean
from printed import EXACT, PRINTED


@dataclass(frozen=True)
class Row:
    """The mean of some runs; ``low`` and ``high`` are its 95 per cent interval, ``least`` and ``most`` single runs."""

    id: str
    paper: float | None
    measured: float
    low: float | None
    high: float | None
    runs: int
    least: float
    most: float

    @classmethod
    def of(cls, name: str, values: Sequence[float]) -> Row:
        mean = Mean.of(values)
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
    return [_explained(row, values[row.id.partition(".")[0]]) for row in rows if row.met is False]


def _explained(row: Row, values: Values) -> str:
    name, _, figure = row.id.partition(".")
    words = [f"{row.id}: {row.measured:.3g}, {row.factor:.2f} times the printed {row.paper:g}"]
    if figure == "dissimilarity" and "bootstrap" in values:
        larger = splits(name, values)[-1]
        parts = ", ".join(f"{cause} {mean.value:.4f}" for cause, mean in larger.causes.items())
        words.append(f"of it {parts}; a bootstrap of the original has {Mean.of(values['bootstrap']).value:.3f}")
    words.append(
        _again(row.id, f"the mean of {TABLES} runs, as printed, comes to", *Mean.of(values[figure]).again(TABLES))
    )
    once = f"{figure}.once.{TABLES}"
    if len(values.get(once, ())) > 1:
        one = Mean.of(values[once])
        words.append(f"with each itemset once over {TABLES} tables it is {one.value:.3g}")
        words.append(_again(row.id, f"another {TABLES} tables then come to", *one.again(1)))
    for key, runs in ((figure, "single runs"), (once, f"times {TABLES} tables with each itemset once")):
        others = values.get(f"numberings.{key}", ())
        if len(others) > FEW:
            said = f"other numbers of the items lead, in {len(others)} {runs}, to"
            words.append(_again(row.id, said, min(others), max(others)))
    return "; ".join(words)


def _again(name: str, said: str, low: float, high: float) -> str:
    inside = "within" if PRINTED[name].meets(low, high) else "OUTSIDE of"
    return f"{said} {low:.3g} to {high:.3g}, which the printed figure lies {inside}"
