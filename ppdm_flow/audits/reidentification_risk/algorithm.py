"""How likely a row is found out by the quasi-identifiers, for three attackers.

A missing and a suppressed cell are values of their own. Where no population is given, the original is taken for it if
its classes are comparable; else the release itself, which overstates the journalist's and the marketer's success.

With f_j the rows of class j in the release and F_j the persons of that class in the population (El Emam 2013, chapter
16): a prosecutor knows that the person is in the release, and is right with 1/f_j; a journalist knows only that the
person is in the population, and is right with 1/F_j; a marketer links all rows, and is right for the share
(1/n) sum of f_j/F_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.records.columns import quasi_identifiers
from ppdm_flow.audits.reidentification_risk.spec import ReidentificationRiskParams
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Series
from ppdm_flow.mining.populations.matching import fitting
from ppdm_flow.mining.populations.population import Population as FileOf
from ppdm_flow.mining.populations.profiles import profiles
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table, concat

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Class sizes in the population that the release was taken from.

    ``sizes`` (classes,) of the released classes, at least what is released of them; ``note`` says what was taken.

    ``strangers`` counts released classes that the population does not have.
    """

    sizes: Integers
    note: str = ""
    strangers: int = 0


def population_of(
    file: str | None, columns: Sequence[str], released: Counts, original: DataView, ctx: AuditContext
) -> Population:
    """Return the population: the file's, or the original's where its classes are comparable, or the release itself.

    Generalized, perturbed or renamed values have no counterpart in the original: then only the release itself can be
    taken, which overstates the risk. A file is read as `k_map` reads one. Raises DataError where it cannot be used.
    """
    sizes = released.counts
    if file is not None:
        people = profiles(FileOf(path=file), released, ctx, "an audit `reidentification_risk`")
        fitting_people = fitting(released.codes, people)
        strangers = int((fitting_people < sizes).sum())
        return Population(np.maximum(fitting_people, sizes), "", strangers)
    facts = [ctx.attributes[c] for c in columns if c in ctx.attributes]
    if any(f.was(Change.GENERATED) for f in facts):
        return Population(sizes, "at most: generated rows belong to nobody, and only look like somebody's")
    if original.counts(()).total == int(sizes.sum()):
        return Population(sizes, "every row of the original is released, so the release is the population")
    sources = [source_of(c, ctx) for c in columns]
    if any(f.was(*Change) for f in facts) or any(s not in original.schema for s in sources):
        return Population(
            sizes, "at most: the classes of the original are not comparable, so the release stands for it"
        )
    counted = original.counts(sources)
    return _sized(released, Counts(tuple(columns), counted.categories, counted.codes, counted.counts))


def _sized(released: Counts, population: Counts) -> Population:
    """Look the released classes up among those of the population."""
    both = concat(
        Table(
            {c: Column(np.ascontiguousarray(part.of(c)), part.names(c)) for c in released.columns},
            np.arange(len(part), dtype=np.int64),
        )
        for part in (released, population)
    )
    codes = np.empty((len(both), len(both.names)), dtype=np.int32)
    for i, name in enumerate(both.names):
        codes[:, i] = both[name].codes
    rows = np.concatenate([np.zeros(len(released), dtype=np.int64), population.counts])
    group, size = Counts(both.names, tuple(both[c].categories for c in both.names), codes, rows).groups(both.names)
    in_population = np.zeros(size, dtype=np.int64)
    np.add.at(in_population, group, rows)
    sizes = in_population[group[: len(released)]]
    return Population(np.maximum(sizes, released.counts), "", int((sizes < released.counts).sum()))


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
    def series(name: str, risk: Risk) -> Series:
        return Series(name, (risk.highest, risk.average, risk.at_risk))

    return Chart(
        id="attackers",
        title="Risk of re-identification",
        kind="bars",
        x=("highest", "average", "share of rows at risk"),
        series=(series("prosecutor", prosecutor), series("journalist", journalist)),
        y_label="probability or share",
        note=f"a row is at risk above {threshold:g}; the marketer's success is the journalist's average",
    )
