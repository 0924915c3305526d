"""The risk that a row is identified by its quasi-identifiers, for three attackers.

A missing and a suppressed cell are values of their own. Where no population is given, the original is taken for it if
its classes are comparable; else the release itself, which overstates the journalist's and the marketer's success.

With f_j the rows of class j in the release and F_j the persons of that class in the population (El Emam 2013, chapter
16): a prosecutor knows that the person is in the release, and is right with 1/f_j; a journalist knows only that the
person is in the population, and is right with 1/F_j; a marketer links all rows, and is right for the share
(1/n) sum of f_j/F_j.

Where the policy counts people, f_j and F_j are different people, and shares are of people; see
:mod:`ppdm_flow.audits.reidentification_risk.algorithm`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.records.columns import quasi_identifiers
from ppdm_flow.audits.records.members import (
    Members,
    classes_sql,
    counts_people,
    members_of_original,
    members_of_release,
    refuse_rows,
    untold,
)
from ppdm_flow.audits.reidentification_risk.spec import ReidentificationRiskParams
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.mining.populations.population import PopulationFile as FileOf
from ppdm_flow.mining.populations.profiles import fitting, profiles
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table, concat

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class ReidentificationRiskAudit:
    """Counts the released combinations of quasi-identifiers, and looks them up in the population."""

    def __init__(self, params: ReidentificationRiskParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the highest and average risk and the share of rows or people at risk of each attacker."""
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        file, threshold = self.params.population, self.params.threshold
        rows = candidate.counts(columns)
        all_released = original.counts(()).total == rows.total
        if counts_people(ctx):
            members = members_of_release(candidate, columns, ctx)
            population = population_of(
                file,
                members.classes,
                original,
                ctx,
                lambda of: members_of_original(original, of, ctx).classes,
                all_released=all_released,
            )
            prosecutor, journalist = risks_of_people(members, population, candidate, ctx, threshold)
        else:
            counts = _occurring(rows)
            population = population_of(file, counts, original, ctx, original.counts, all_released=all_released)
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


# The population that a release was taken from: its people in each released class.


@dataclass(frozen=True, slots=True, eq=False)
class PopulationClassSizes:
    """Class sizes in the population that the release was taken from.

    ``sizes`` (classes,) of the released classes, at least what is released of them; ``note`` says what was taken.

    ``strangers`` counts released classes that the population does not have.
    """

    sizes: Integers
    note: str = ""
    strangers: int = 0


def population_of(
    file: str | None,
    released: Counts,
    original: DataView,
    ctx: AuditContext,
    counted: Callable[[Sequence[str]], Counts],
    *,
    all_released: bool,
) -> PopulationClassSizes:
    """Return the population: the file's, or the original's where its classes are comparable, or the release itself.

    Generalized, perturbed or renamed values have no counterpart in the original: then only the release itself can be
    taken, which overstates the risk. A file is read as `k_map` reads one. Raises DataError where it cannot be used.

    ``released`` are the classes with their rows or people, ``counted`` counts those of the original over its columns.
    ``all_released``: every row of the original is released.
    """
    columns = released.columns
    sizes = released.counts
    if file is not None:
        people = profiles(FileOf(path=file), released, ctx, "an audit `reidentification_risk`")
        fitting_people = fitting(released.codes, people)
        strangers = int((fitting_people < sizes).sum())
        return PopulationClassSizes(np.maximum(fitting_people, sizes), "", strangers)
    facts = [ctx.attributes[c] for c in columns if c in ctx.attributes]
    if any(f.was(Change.GENERATED) for f in facts):
        return PopulationClassSizes(sizes, "at most: generated rows belong to nobody, and only look like somebody's")
    if all_released:
        return PopulationClassSizes(sizes, "every row of the original is released, so the release is the population")
    sources = [source_of(c, ctx) for c in columns]
    if any(f.was(*Change) for f in facts) or any(s not in original.schema for s in sources):
        return PopulationClassSizes(
            sizes, "at most: the classes of the original are not comparable, so the release takes its place"
        )
    own = counted(sources)
    return _sized(released, Counts(columns, own.categories, own.codes, own.counts))


def _sized(released: Counts, population: Counts) -> PopulationClassSizes:
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
    return PopulationClassSizes(np.maximum(sizes, released.counts), "", int((sizes < released.counts).sum()))


# The risk of a person by one of several rows, or by several that are seen to be one person's.
#
# A class of f people leaves f to guess among, each as likely, with any rows there. A person's risk is the largest over
# the person's rows. Where rows are linked, an adversary who knows the classes of up to `known_rows` rows of a person
# guesses among the linked people who have them all: a person's risk is then the largest over these combinations too. A
# population says nothing of several rows. The released people take its place there, which overstates the journalist's
# and the marketer's success.
#
# Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008.


_UNKNOWN = "what linked rows of people tell together is not counted, as a run says of `k_anonymity`"
_RELEASED = "at most: a population says nothing of several rows of a person, so the release takes its place there"
_LINKED = "with what rows tell together that are seen to be one person's"


@dataclass(frozen=True, slots=True, eq=False)
class LinkedRisks:
    """``risks`` (people,) of combinations of linked rows, 0 where there are none; None where they are too many.

    ``complete``: these are all; else only the highest is known to be right.
    """

    risks: Floats | None
    complete: bool = True


def risks_of_people(
    members: Members, population: PopulationClassSizes, candidate: DataView, ctx: AuditContext, threshold: float
) -> tuple[ReidentificationRisk, ReidentificationRisk]:
    """Return the prosecutor's and the journalist's risk of the people of released classes."""
    own, others = (members.largest(1.0 / np.maximum(sizes, 1)) for sizes in (members.sizes, population.sizes))
    linked = _linked(members, candidate, ctx)
    if linked is None:
        return risk_of_people(own, threshold), risk_of_people(others, threshold, population.note)
    if linked.risks is None:
        unknown = ReidentificationRisk(None, None, None, None, "people", unmeasured=_UNKNOWN)
        return unknown, unknown
    prosecutor = risk_of_people(np.maximum(own, linked.risks), threshold, _LINKED)
    alike = bool((population.sizes == members.sizes).all())
    if alike or (ctx.people is not None and ctx.people.known_rows != 1):
        note = population.note if alike else _RELEASED
        journalist = risk_of_people(np.maximum(others, linked.risks), threshold, note)
    else:
        journalist = risk_of_people(others, threshold, population.note)
    return _drop_unknown(prosecutor, linked), _drop_unknown(journalist, linked)


def _drop_unknown(risk: ReidentificationRisk, linked: LinkedRisks) -> ReidentificationRisk:
    """Leave out what is not known where the combinations were not all looked at."""
    if linked.complete:
        return risk
    return replace(risk, average=None, at_risk=None, at_highest=None, unmeasured=_UNKNOWN)


def _linked(members: Members, candidate: DataView, ctx: AuditContext) -> LinkedRisks | None:
    """Return the risks of combinations of classes; None where no row is linked, or nobody has several."""
    if int(members.rows.sum()) == len(members.numbers):
        return None
    columns, own = _read(members.classes.columns, ctx)
    try:
        if not may_link(columns, candidate, own):
            return None
        crowds = KnownRows.of(columns, None, candidate, own).smallest_crowd()
    except UnmeasuredError:
        return LinkedRisks(None)
    if crowds.smallest is None:
        return None
    risks = np.zeros(len(members.numbers))
    risks[np.searchsorted(members.numbers, crowds.people)] = 1.0 / crowds.by_person
    return LinkedRisks(risks, complete=not crowds.ended_early)


def _read(columns: Sequence[str], ctx: AuditContext) -> tuple[RevealingColumns, AuditContext]:
    """Return classes as this audit forms them: a missing cell is a value of its own."""
    return RevealingColumns(tuple(columns)), replace(ctx, nulls=Nulls.OWN_CATEGORY)


def risks_sql(
    columns: Sequence[str], candidate: DataView, ctx: AuditContext, threshold: float
) -> dict[str, float | int | None]:
    """Return figures of the prosecutor by the second route: all, or the highest risk alone where rows are linked."""
    classes = classes_sql(candidate, columns, ctx)
    if not classes or ctx.sql is None:
        return {}
    people = sum(own for _, _, own in classes)
    smallest = min(size for _, size, _ in classes)
    if sum(rows for rows, _, _ in classes) > people:
        try:
            crowd = KnownQuery.of_known(ctx.sql, _read(columns, ctx)[0], None, candidate, _read(columns, ctx)[1])
            linked = crowd.smallest_crowd()
        except UnmeasuredError:
            return {"prosecutor_highest": None}
        if linked is not None:
            return {"prosecutor_highest": 1.0 / min(smallest, linked)}
    return {
        "prosecutor_highest": 1.0 / smallest,
        "prosecutor_average": sum(own / size for _, size, own in classes) / people,
        "prosecutor_at_risk": sum(own for _, size, own in classes if 1.0 / size > threshold) / people,
        "prosecutor_at_highest": sum(own for _, size, own in classes if size == smallest) / people,
    }


# The risks of rows or of people, summed up.


@dataclass(frozen=True, slots=True)
class ReidentificationRisk:
    """``highest`` of any row, ``average`` over rows, ``at_risk``: the share of rows above the threshold.

    ``at_highest`` is the share of rows that have the highest. Of people where ``unit`` says so. None is not known, for
    the reason ``unmeasured``.
    """

    highest: float | None
    average: float | None
    at_risk: float | None
    at_highest: float | None
    unit: str = "rows"
    note: str = ""
    unmeasured: str = ""


def risk_of_rows(released: Integers, population: Integers, threshold: float, note: str = "") -> ReidentificationRisk:
    """Return the risk where a row of class j is found out with probability 1 / ``population``[j]; no row is no risk."""
    total = int(released.sum())
    if total == 0:
        return ReidentificationRisk(0.0, 0.0, 0.0, 0.0, note=note)
    each = 1.0 / population
    return ReidentificationRisk(
        float(each.max()),
        float((released * each).sum() / total),
        float(released[each > threshold].sum() / total),
        float(released[population == population.min()].sum() / total),
        note=note,
    )


def risk_of_people(each: Floats, threshold: float, note: str = "") -> ReidentificationRisk:
    """Return the risk of people who are found out with the probabilities ``each`` (people,); nobody is no risk."""
    if not len(each):
        return ReidentificationRisk(0.0, 0.0, 0.0, 0.0, "people", note)
    highest = float(each.max())
    return ReidentificationRisk(
        highest,
        float(each.mean()),
        float((each > threshold).mean()),
        float((each == highest).mean()),
        "people",
        note,
    )
