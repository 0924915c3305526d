"""How likely a row is found out by the quasi-identifiers, for three attackers.

A missing and a suppressed cell are values of their own. Where no population is given, the original is taken for it if
its classes are comparable; else the release itself, which overstates the journalist's and the marketer's success.

The risks of three attackers, from class sizes in the release and in the population.
With f_j the rows of class j in the release and F_j the persons of that class in the population (El Emam 2013, chapter
16): a prosecutor knows that the person is in the release, and is right with 1/f_j; a journalist knows only that the
person is in the population, and is right with 1/F_j; a marketer links all rows, and is right for the share
(1/n) sum of f_j/F_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.records.columns import quasi_identifiers
from ppdm_flow.audits.reidentification_risk.population import Population, population_of
from ppdm_flow.audits.reidentification_risk.spec import ReidentificationRiskParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Series
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Risk:
    """``highest`` of any row, ``average`` over rows, ``at_risk``: the share of rows above the threshold."""

    highest: float
    average: float
    at_risk: float


def risk(released: Integers, population: Integers, threshold: float) -> Risk:
    """Return the risk where a row of class j is found out with probability 1 / ``population``[j]; no row is no risk."""
    total = int(released.sum())
    if total == 0:
        return Risk(0.0, 0.0, 0.0)
    each = 1.0 / population
    return Risk(
        float(each.max()), float((released * each).sum() / total), float(released[each > threshold].sum() / total)
    )


def at_highest(released: Integers) -> float:
    """Return the share of rows in the smallest classes."""
    total = int(released.sum())
    return float(released[released == released.min()].sum() / total) if total else 0.0


class ReidentificationRiskAudit:
    """Counts the released combinations of quasi-identifiers, and looks them up in the population."""

    def __init__(self, params: ReidentificationRiskParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the highest and average risk and the share of rows at risk of each attacker."""
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        counts = _occurring(candidate.counts(columns))
        population = population_of(self.params.population, columns, counts, original, ctx)
        prosecutor = risk(counts.counts, counts.counts, self.params.threshold)
        journalist = risk(counts.counts, population.sizes, self.params.threshold)
        figures = {
            **_figures("prosecutor", prosecutor, ""),
            "prosecutor_at_highest": Figure(at_highest(counts.counts), "share"),
            **_figures("journalist", journalist, population.note),
            "marketer_average": Figure(journalist.average, "probability", note=population.note),
        }
        return AuditOutcome(
            figures=figures,
            findings=_findings(population, ctx),
            charts=(_chart(prosecutor, journalist, self.params.threshold),),
        )


def _occurring(counts: Counts) -> Counts:
    kept = counts.counts > 0
    return Counts(counts.columns, counts.categories, counts.codes[kept], np.ascontiguousarray(counts.counts[kept]))


def _figures(attacker: str, risks: Risk, note: str) -> dict[str, Figure]:
    return {
        f"{attacker}_highest": Figure(risks.highest, "probability", note=note),
        f"{attacker}_average": Figure(risks.average, "probability", note=note),
        f"{attacker}_at_risk": Figure(risks.at_risk, "share", note=note),
    }


def _findings(population: Population, ctx: AuditContext) -> tuple[Finding, ...]:
    if not population.strangers:
        return ()
    text = (
        f"{population.strangers:,} released classes have more rows than the population has of them: is it the"
        " population of this release, and are its values written in the released form? The released rows count there"
    )
    return (Finding("PPF840", Severity.WARNING, text, f"{ctx.release}.population"),)


def _chart(prosecutor: Risk, journalist: Risk, threshold: float) -> Chart:
    def series(name: str, found: Risk) -> Series:
        return Series(name, (found.highest, found.average, found.at_risk))

    return Chart(
        id="attackers",
        title="Risk of re-identification",
        kind="bars",
        x=("highest", "average", "share of rows at risk"),
        series=(series("prosecutor", prosecutor), series("journalist", journalist)),
        y_label="probability or share",
        note=f"a row is at risk above {threshold:g}; the marketer's success is the journalist's average",
    )
