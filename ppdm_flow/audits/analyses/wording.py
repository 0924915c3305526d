"""What is said and drawn of an analysis: names of terms, the coefficients that lead elsewhere, a forest plot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.audits.analyses.data import AnalysisData
from ppdm_flow.audits.analyses.running import AnalysisGroups
from ppdm_flow.core.analyses import Analysis
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Chart, FigureSeries, Finding
from ppdm_flow.mining.regression.alike import Likeness
from ppdm_flow.mining.regression.design import INTERCEPT, Floats, Term
from ppdm_flow.mining.regression.fit import FittedTerms
from ppdm_flow.sdk.audit import AuditContext

OTHER_CONCLUSION = "PPF657"
MOST = 40
"""Terms in a picture, those of the least overlap first."""
_FAR = 0.5
"""A conclusion that differs counts where the intervals overlap by less than half."""
_EDGE = 60.0
"""Standard errors at which a picture ends."""


@dataclass(frozen=True, slots=True)
class TermNames:
    """How the terms of an analysis may be called."""

    analysis: Analysis
    data: AnalysisData
    shared: AnalysisGroups
    ctx: AuditContext

    def of(self, term: Term) -> str:
        """Return the name of a term: its attribute, with a category as far as it may be shown."""
        name, code = term
        if term == INTERCEPT:
            return "the intercept"
        if self.analysis.form == "mean":
            cells = zip(self.analysis.by, self.shared.cells[code].tolist(), strict=True)
            return ", ".join(self._cell(a, c) for a, c in cells) or f"`{name}`"
        return f"`{name}`" if code < 0 else self._cell(name, code)

    def short(self, term: Term) -> str:
        """Return the name in a picture: without marks, and of a group its categories only."""
        if self.analysis.form != "mean" or not self.analysis.by:
            return self.of(term).replace("`", "")
        cells = zip(self.analysis.by, self.shared.cells[term[1]].tolist(), strict=True)
        return ", ".join(self.data.variables[a].label(a, c, self.ctx) for a, c in cells)

    def _cell(self, attribute: str, code: int) -> str:
        return f"`{attribute}`: {self.data.variables[attribute].label(attribute, code, self.ctx)}"


def finding(name: str, alike: Likeness, before: FittedTerms, after: FittedTerms, names: TermNames) -> Finding | None:
    """Return a warning where a clear result of the original is lost in the release, or turned round."""
    clear = before.conclusion != 0
    changed = np.flatnonzero((alike.agrees == 0) & clear & (alike.overlap < _FAR))
    if names.analysis.form == "mean" or not len(changed):
        return None
    worst = int(changed[np.lexsort((-alike.difference[changed], alike.overlap[changed]))[0]])
    place = int(alike.place[worst])
    if place < 0:
        how = "has no estimate in the release"
    elif before.conclusion[worst] == -after.conclusion[place]:
        how = "has the opposite sign in the release, significant at 5 %"
    else:
        how = "is significant at 5 % in the original alone"
    many = counted(len(changed), "coefficient")
    which = names.of(alike.terms[worst])
    text = f"analysis `{name}`: {many} of {len(alike.terms)} lead to another conclusion; {which} {how}"
    return Finding(OTHER_CONCLUSION, Severity.WARNING, text, f"{names.ctx.release}.{name}")


def chart(name: str, before: FittedTerms, after: FittedTerms, alike: Likeness, names: TermNames) -> Chart:
    """Return estimates and intervals side by side, in standard errors of the original, so that one scale has all."""
    drawn = (before.errors > 0) & (alike.place >= 0)
    kept = [i for i, term in enumerate(before.terms) if term != INTERCEPT and drawn[i]]
    shown = sorted(sorted(kept, key=lambda i: float(alike.overlap[i]))[:MOST])
    middle = before.values if names.analysis.form == "mean" else np.zeros(len(before.values))
    there = [int(alike.place[i]) for i in shown]
    scale, shift = before.errors[shown], middle[shown]

    def placed(values: Floats) -> tuple[float, ...]:
        return tuple(np.clip((values - shift) / scale, -_EDGE, _EDGE).tolist())

    sides = (("original", before, shown), ("released", after, there))
    series = tuple(
        FigureSeries(label, placed(each.values[rows]), placed(each.low[rows]), placed(each.high[rows]))
        for label, each, rows in sides
    )
    rest = len(before.terms) - len(shown) - (INTERCEPT in before.terms)
    zero = "from the original mean" if names.analysis.form == "mean" else "from 0"
    note = "95 % intervals" + (f"; {rest:,} further terms are not shown" if rest else "")
    if any(abs(end) >= _EDGE for each in series for end in (*each.low, *each.high)):
        note += f"; what lies beyond {_EDGE:g} is drawn there"
    return Chart(
        id=f"{name}.estimates",
        title=f"Analysis {name}: estimates on original and release",
        kind="forest",
        x=tuple(names.short(before.terms[i]) for i in shown),
        series=series,
        x_label=", ".join(names.analysis.by) or "term",
        y_label=f"standard errors of the original {zero}",
        note=note,
        group="analyses",
    )
