"""How likely a row is found out by the quasi-identifiers, for three attackers.

A missing and a suppressed cell are values of their own. Where no population is given, the original is taken for it if
its classes are comparable; else the release itself, which overstates the journalist's and the marketer's success.

With f_j the rows of class j in the release and F_j the persons of that class in the population (El Emam 2013, chapter
16): a prosecutor knows that the person is in the release, and is right with 1/f_j; a journalist knows only that the
person is in the population, and is right with 1/F_j; a marketer links all rows, and is right for the share
(1/n) sum of f_j/F_j.

Where the policy counts people, f_j and F_j are different people, and shares are of people; see
:mod:`ppdm_flow.audits.reidentification_risk.of_people`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ppdm_flow.audits.records.columns import quasi_identifiers
from ppdm_flow.audits.records.members import counts_people, members_of_original, members_of_release, refuse_rows, untold
from ppdm_flow.audits.reidentification_risk.of_people import risks_of_people, risks_sql
from ppdm_flow.audits.reidentification_risk.population import PopulationClassSizes, population_of
from ppdm_flow.audits.reidentification_risk.risk import ReidentificationRisk, risk_of_rows
from ppdm_flow.audits.reidentification_risk.spec import ReidentificationRiskParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts


class ReidentificationRiskAudit:
    """Counts the released combinations of quasi-identifiers, and looks them up in the population."""

    def __init__(self, params: ReidentificationRiskParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the highest and average risk and the share of rows or people at risk of each attacker."""
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        file, threshold = self.params.population, self.params.threshold
        rows = candidate.counts(columns)
        whole = original.counts(()).total == rows.total
        if counts_people(ctx):
            members = members_of_release(candidate, columns, ctx)
            population = population_of(
                file,
                members.classes,
                original,
                ctx,
                lambda of: members_of_original(original, of, ctx).classes,
                whole=whole,
            )
            prosecutor, journalist = risks_of_people(members, population, candidate, ctx, threshold)
        else:
            counts = _occurring(rows)
            population = population_of(file, counts, original, ctx, original.counts, whole=whole)
            prosecutor = risk_of_rows(counts.counts, counts.counts, threshold, untold(ctx))
            journalist = risk_of_rows(counts.counts, population.sizes, threshold, _both(population.note, untold(ctx)))
        figures = {
            **_figures("prosecutor", prosecutor),
            "prosecutor_at_highest": _figure(prosecutor.at_highest, "share", prosecutor),
            **_figures("journalist", journalist),
            "marketer_average": _figure(journalist.average, "probability", journalist),
        }
        outcome = AuditOutcome(
            figures=figures,
            findings=_findings(population, ctx),
            charts=_charts(prosecutor, journalist, threshold),
        )
        return refuse_rows(outcome, ctx)

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count people in SQL; nothing where rows are counted."""
        del original
        if not counts_people(ctx):
            return {}
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        return risks_sql(columns, candidate, ctx, self.params.threshold)


def _occurring(counts: Counts) -> Counts:
    kept = counts.counts > 0
    return Counts(counts.columns, counts.categories, counts.codes[kept], np.ascontiguousarray(counts.counts[kept]))


def _both(*notes: str) -> str:
    return "; ".join(n for n in notes if n)


def _figure(value: float | None, unit: str, risk: ReidentificationRisk) -> Figure:
    return Figure(value, unit, note=risk.note if value is not None else risk.unmeasured)


def _figures(attacker: str, risk: ReidentificationRisk) -> dict[str, Figure]:
    return {
        f"{attacker}_highest": _figure(risk.highest, "probability", risk),
        f"{attacker}_average": _figure(risk.average, "probability", risk),
        f"{attacker}_at_risk": _figure(risk.at_risk, "share", risk),
    }


def _findings(population: PopulationClassSizes, ctx: AuditContext) -> tuple[Finding, ...]:
    if not population.strangers:
        return ()
    what = "people" if counts_people(ctx) else "rows"
    text = (
        f"{population.strangers:,} released classes have more {what} than the population has of them: is it the"
        f" population of this release, and are its values written in the released form? The released {what} count there"
    )
    return (Finding("PPF840", Severity.WARNING, text, f"{ctx.release}.population"),)


def _charts(prosecutor: ReidentificationRisk, journalist: ReidentificationRisk, threshold: float) -> tuple[Chart, ...]:
    """Return bars of both; none where not all of it is known."""
    every = [(r.highest, r.average, r.at_risk) for r in (prosecutor, journalist)]
    known = [tuple(f for f in each if f is not None) for each in every]
    whom = "a person" if prosecutor.unit == "people" else "a row"
    chart = Chart(
        id="attackers",
        title="Risk of re-identification",
        kind="bars",
        x=("highest", "average", f"share of {prosecutor.unit} at risk"),
        series=(FigureSeries("prosecutor", known[0]), FigureSeries("journalist", known[1])),
        y_label="probability or share",
        note=f"{whom} is at risk above {threshold:g}; the marketer's success is the journalist's average",
    )
    return (chart,) if known == every else ()
