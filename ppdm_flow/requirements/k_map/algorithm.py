"""k-map, measured: the smallest number of people in a population table that fit a released class.

Source: Sweeney, PhD thesis, MIT, 2001, section 7. Released labels are compared with the population's values through the
hierarchy that the policy declares for the attribute, else letter by letter; people outside the table do not count.
Where a cell depends on one value alone, a value of the source fits only the cells that it became. Otherwise a
suppressed cell fits everybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.classes.wording import left_out, treatment, unmeasured
from ppdm_flow.mining.exposure.columns import RevealingColumns, columns, facts_of, sensitive_attributes
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.people.figures import UncountedPeopleError, require_people
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.populations.profiles import PopulationProfiles, fitting, profiles
from ppdm_flow.mining.recoding.grouping import RowGrouping
from ppdm_flow.mining.recoding.models import Bools, Floats, HereditaryModel, SensitiveColumns
from ppdm_flow.mining.releases.attributes import all_known, classes, listed
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.schema import Schema

Ints = npt.NDArray[np.int64]


class KMapAudit:
    """Counts the released classes, and the people that fit them."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest number of people. Raises DataError where the population cannot be used."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for requirement in _own(ctx):
            released_columns = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            try:
                require_readable(released_columns, ctx)
                require_one_class(released_columns, candidate, ctx)
            except UnmeasuredError as fault:
                figure = Figure(None, "people", note=fault.text)
                name, k = f"{requirement.id}.k", float(requirement.k)
                measured.append(Measured(requirement.id, name, figure, k, False, fault.text, verifiable=False))
                findings.append(unmeasured(requirement.id, fault))
                continue
            counts = candidate.counts(released_columns.grouping)
            kept = _kept(counts, ctx.nulls)
            population = profiles(requirement.population, counts, ctx, "`privacy.k_map`")
            people = fitting(counts.codes[kept], population)
            rows, left = counts.counts[kept], int(counts.counts[~kept].sum())
            own = _figures(requirement, people, rows, population.total, left)
            figures |= own
            name = f"{requirement.id}.k"
            text = _sentence(requirement, counts.columns, people, rows) + treatment(ctx.nulls, left)
            bound = float(requirement.k)
            measured.append(Measured(requirement.id, name, own[name], bound, at_most=False, sentence=text))
            findings.extend(left_out(requirement.id, left))
            findings.extend(_strangers(requirement, people))
            charts.extend(pictures(requirement, people, rows))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Join the classes of the file with the population in SQL."""
        del original
        figures: dict[str, float | int | None] = {}
        for requirement in _own(ctx) if ctx.sql is not None else ():
            released_columns = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            try:
                require_readable(released_columns, ctx)
                require_one_class(released_columns, candidate, ctx)
            except UnmeasuredError:
                continue
            counts = candidate.counts(released_columns.grouping)
            people = profiles(requirement.population, counts, ctx, "`privacy.k_map`")
            if ctx.sql is not None:
                k = smallest(ctx.sql, candidate.schema, counts, people, ctx.nulls)
                figures[f"{requirement.id}.k"] = k
        return figures


def _own(ctx: AuditContext) -> list[KMap]:
    return [r for r in ctx.requirements if isinstance(r, KMap)]


def _kept(counts: Counts, nulls: Nulls) -> npt.NDArray[np.bool_]:
    occurs = counts.counts > 0
    if nulls is Nulls.EXCLUDE:
        return np.asarray(occurs & ~(counts.codes == MISSING).any(axis=1))
    return np.asarray(occurs)


def _figures(requirement: KMap, people: Ints, rows: Ints, total: int, left: int) -> dict[str, Figure]:
    figures = {
        "k": Figure(int(people.min()) if len(people) else 0, "people"),
        "rows_below": Figure(int(rows[people < requirement.k].sum()), "rows"),
        "classes": Figure(len(people), "classes"),
        "classes_without_people": Figure(int((people == 0).sum()), "classes"),
        "population": Figure(total, "people"),
        "rows_left_out": Figure(left, "rows"),
    }
    return {f"{requirement.id}.{name}": figure for name, figure in figures.items()}


def _sentence(requirement: KMap, columns: tuple[str, ...], people: Ints, rows: Ints) -> str:
    if not len(people):
        return "There is no row to measure, so nothing can be said of it."
    k, below = int(people.min()), int(rows[people < requirement.k].sum())
    who = f"by {listed(columns)}" if columns else "since no quasi-identifier is released"
    end = f" {below:,} of {counted(int(rows.sum()), 'row')} fit fewer." if below else ""
    return (
        f"Every released row fits at least {counted(k, 'person') if k == 1 else f'{k:,} people'} of the population"
        f" {who}; {requirement.k:,} are required.{end}"
    )


def _strangers(requirement: KMap, people: Ints) -> list[Finding]:
    number = int((people == 0).sum())
    if not number:
        return []
    what = "class fits" if number == 1 else "classes fit"
    text = f"{number:,} released {what} nobody in the population file: it lacks people, or writes values otherwise"
    return [Finding("PPF879", Severity.WARNING, text, requirement.id)]


class UnlabelledError(UnmeasuredError):
    """A released column depends on quasi-identifiers, and nothing says which people its cells fit."""

    code = "PPF839"


def require_readable(columns: RevealingColumns, ctx: AuditContext) -> None:
    """Raise UnlabelledError where the classes cannot be looked for in a population.

    A class id over several attributes, or a pseudonym, is no label of a value.
    """
    unmatchable = [
        c
        for c in columns.every
        if c in columns.mixed or len(facts_of(c, ctx).computed_from) > 1 or facts_of(c, ctx).keyed
    ]
    if not unmatchable:
        return
    what = "is no label" if len(unmatchable) == 1 else "are no labels"
    raise UnlabelledError(
        f"{listed(unmatchable)} {what} of one quasi-identifier, so nobody can say whom of the population its cells fit:"
        " drop it, or keep it out of what is released."
    )


def require_one_class(columns: RevealingColumns, candidate: DataView, ctx: AuditContext) -> None:
    """Raise UncountedPeopleError where rows are seen to be one person's, and are in several classes.

    An adversary with the population looks for people who fit all of these classes. They are fewer than those who fit
    one of them. A row by itself fits as many people, whosever it is.
    """
    if ctx.people is None:
        return
    require_people(ctx.people, ctx)
    if not may_link(columns, candidate, ctx):
        return
    known = KnownRows.of(columns, None, candidate, ctx)
    several = int(known.class_profiles.people[np.diff(known.class_profiles.begins) > 1].sum())
    if several:
        raise UncountedPeopleError(
            f"The rows of {counted(several, 'person') if several == 1 else f'{several:,} people'} are seen to be one"
            f" person's, and are in several classes: who of the population fits all of them is not counted."
            f"{known.linked_by} Drop what links them, or release one row of each person."
        )


_EDGES = (0, 1, 2, 5, 10, 50, 100, 1000)


def pictures(requirement: KMap, people: Ints, rows: Ints) -> Iterator[Chart]:
    """Yield rows by the people who fit their class, with an edge at the required k; none without rows."""
    if not len(people):
        return
    edges = np.array(sorted({*_EDGES, requirement.k}))
    place = np.searchsorted(edges, people, side="right") - 1
    counted = np.bincount(place, rows, len(edges))
    last = int(place.max()) + 1
    names = [f"{a:,}" if b == a + 1 else f"{a:,} to {b - 1:,}" for a, b in pairwise(edges.tolist())]
    names.append(f"{edges[-1]:,} or more")
    yield Chart(
        id=f"{requirement.id}.by_people",
        title="Rows by the people of the population whom they fit",
        kind="bars",
        x=tuple(names[:last]),
        series=(FigureSeries("released rows", tuple(counted[:last].tolist())),),
        x_label="people",
        y_label="rows",
        note=f"At least {requirement.k:,} are required.",
        group=requirement.kind,
    )


def smallest(sql: Sql, schema: Schema, released: Counts, profiles: PopulationProfiles, nulls: Nulls) -> int:
    """Return the smallest number of people that fit a class; 0 where there is no class."""
    width = len(released.columns)
    where = all_known(released.columns) if nulls is Nulls.EXCLUDE else ""
    grouped = classes("candidate", released.columns, schema, where)
    if not width:
        some = sql.rows(f"SELECT COUNT(*) FROM ({grouped})")[0][0]  # noqa: S608  # our own query
        return profiles.total if some else 0
    people = ", ".join(f"UNNEST(?::BIGINT[]) AS p{j}" for j in range(width))
    tables = "".join(
        f", f{j} AS (SELECT UNNEST(?::BIGINT[]) AS code, UNNEST(?::VARCHAR[]) AS label)" for j in range(width)
    )
    joins = "".join(f" JOIN f{j} ON f{j}.code = people.p{j}" for j in range(width))
    same = " AND ".join(f"c{j} IS NOT DISTINCT FROM f{j}.label" for j in range(width))
    keys = ", ".join(f"c{j}" for j in range(width))
    query = f"""
        WITH people AS MATERIALIZED (SELECT UNNEST(?::BIGINT[]) AS people, {people}){tables},
        classes AS MATERIALIZED ({grouped}),
        fitted AS (SELECT {keys}, SUM(people) AS fit FROM people{joins} JOIN classes ON {same} GROUP BY {keys})
        SELECT (SELECT COUNT(*) FROM classes), COUNT(*), COALESCE(MIN(fit), 0) FROM fitted"""  # noqa: S608  # our own
    every, fitted, least = sql.rows(query, _parameters(released, profiles))[0]
    return int(least) if every == fitted else 0


def _parameters(released: Counts, profiles: PopulationProfiles) -> list[Any]:
    """Return the people with their codes, then for each column its codes beside the labels that cover them."""
    given: list[Any] = [profiles.people.tolist(), *(codes.tolist() for codes in profiles.codes.T)]
    for fits, column in zip(profiles.fits, released.columns, strict=True):
        names: Sequence[str | None] = [SUPPRESSED_TEXT, None, *released.names(column).to_pylist()]
        pairs = [(code, names[label]) for code, fit in enumerate(fits) for label in fit]
        given += [[code for code, _ in pairs], [label for _, label in pairs]]
    return given


@dataclass(frozen=True, slots=True)
class KMapped(HereditaryModel):
    """At least ``k`` people of the population table (Sweeney 2001); classes without a record are of no interest."""

    k: int
    attribute: None = field(default=None, init=False)

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare the population's counts."""
        if grouping.people is None:
            raise ValueError("k-map needs a population table")
        return grouping.people >= self.k


def models(requirement: KMap, _columns: SensitiveColumns) -> list[KMapped]:
    """Return what a class must keep."""
    return [KMapped(requirement.k)]
