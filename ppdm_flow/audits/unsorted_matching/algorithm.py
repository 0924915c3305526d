"""Whether the released rows stand in the order of the original, or of another release.

Two tables of the same people in the same order are one table: put side by side, each tells of the rows of the other,
whatever was done to their values (Sweeney 2002, the unsorted matching attack).
"""

from __future__ import annotations

from ppdm_flow.audits.records.proportions import ALARM
from ppdm_flow.audits.unsorted_matching.order import Agreement, Correlation, agreements, correlation
from ppdm_flow.audits.unsorted_matching.sides import sides
from ppdm_flow.audits.unsorted_matching.spec import UnsortedMatchingParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = {"agreement": "share", "by_chance": "share", "rank_correlation": "correlation", "p_value": "probability"}
NO_PLACES = "the two tables have different numbers of rows, or hardly any: places cannot be compared one by one"
NO_ROWS = "hardly any row of the release comes again, or all look the same"


class UnsortedMatchingAudit:
    """Puts the two tables side by side."""

    def __init__(self, params: UnsortedMatchingParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return how often rows fit at the same place, how places go together, and how rare that is by chance."""
        columns = sides(self.params, original, candidate, ctx)
        if not columns or not len(columns[0].mine) or not len(columns[0].other):
            note = "the two tables have no column in common whose labels can be read, or no rows"
            return AuditOutcome({n: Figure(None, u, note=note) for n, u in NAMES.items()})
        places, ranks = agreements(columns), correlation(columns)
        telling = min(places, key=lambda a: a.p_value, default=None)
        p_value = _together(places, ranks)
        figures = _figures(telling, ranks, p_value)
        figures |= {f"{a.column}.agreement": Figure(a.places / a.rows, "share") for a in places}
        findings = () if p_value is None or p_value >= ALARM else (self._finding(telling, ranks, ctx),)
        return AuditOutcome(figures, findings=findings, charts=(_chart(places),) if places else ())

    def _finding(self, telling: Agreement | None, ranks: Correlation | None, ctx: AuditContext) -> Finding:
        whose = "of the original" if self.params.other is None else "of the other release"
        if telling is not None and (ranks is None or telling.p_value <= ranks.p_value):
            text = (
                f"the released rows stand in the order {whose}: at {telling.places:,} of {telling.rows:,} places"
                f" `{telling.column}` fits the row at the same place there, where shuffled rows would fit at"
                f" {telling.expected:,.0f}"
            )
        else:
            value = ranks.value if ranks is not None else 0.0
            text = f"the places of released rows go together with the places {whose}: their correlation is {value:.3f}"
        text += ". Whoever holds a table in that order puts the two side by side"
        subject = ".".join(filter(None, (ctx.release, "unsorted_matching", self.params.other)))
        return Finding("PPF894", Severity.WARNING, text, subject)


def _together(places: list[Agreement], ranks: Correlation | None) -> float | None:
    """Return one probability for all tests (Bonferroni), None without any."""
    every = [a.p_value for a in places] + ([ranks.p_value] if ranks is not None else [])
    return min(1.0, len(every) * min(every)) if every else None


def _figures(telling: Agreement | None, ranks: Correlation | None, p_value: float | None) -> dict[str, Figure]:
    figures = {n: Figure(None, u, note=NO_PLACES) for n, u in NAMES.items()}
    if telling is not None:
        note = f"of the places the rows fit there in `{telling.column}`, the attribute that tells most"
        figures["agreement"] = Figure(telling.places / telling.rows, "share", note=note)
        figures["by_chance"] = Figure(telling.expected / telling.rows, "share", note="if the rows are shuffled")
    figures["rank_correlation"] = (
        Figure(None, "correlation", note=NO_ROWS)
        if ranks is None
        else Figure(ranks.value, "correlation", ranks.interval, ranks.rows, "0 if the rows are shuffled")
    )
    if p_value is not None:
        figures["p_value"] = Figure(
            p_value, "probability", note="of as much order in shuffled rows; all tests together"
        )
    return figures


def _chart(places: list[Agreement]) -> Chart:
    return Chart(
        id="places",
        title="Rows that fit at the same place",
        kind="bars",
        x=tuple(a.column for a in places),
        series=(
            FigureSeries("found", tuple(a.places / a.rows for a in places)),
            FigureSeries("if shuffled", tuple(a.expected / a.rows for a in places)),
        ),
        x_label="attribute",
        y_label="share of the places",
    )
