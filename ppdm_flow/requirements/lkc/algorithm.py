"""LKC-privacy, measured: every combination of at most L quasi-identifiers (Mohammed, Fung, Hung, Lee, KDD 2009).

At least K rows fit any such combination of known values. Of the rows that fit, a share of at most C has one of the
sensitive values that the policy names of an attribute; these values are counted together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from ppdm_flow.core.people import PeopleCount, PeopleFigure
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.classes.wording import (
    as_they_are,
    intersected,
    known_by,
    left_out,
    treatment,
    unmeasured,
    unrepeated,
)
from ppdm_flow.mining.exposure.columns import (
    ReadingMethod,
    RevealingColumns,
    ValueColumns,
    carriers,
    columns,
    made_of,
    readings,
    sensitive_attributes,
)
from ppdm_flow.mining.exposure.faults import RandomizedError, UnmeasuredError, require_true_values
from ppdm_flow.mining.exposure.query import SIZE, ClassQuery
from ppdm_flow.mining.exposure.repeated import of_originals
from ppdm_flow.mining.exposure.rows import CountedRows, SharedCounts
from ppdm_flow.mining.exposure.together import (
    beside_all,
    findings_of_unaccounted,
    joint_size_sql,
    joint_tables,
    joint_values,
    unaccounted,
)
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.mining.people.groups import NAMED
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery, require_linkable_sql
from ppdm_flow.mining.people.query import PeopleQuery, people_in_classes
from ppdm_flow.mining.people.values import people_values
from ppdm_flow.mining.people.wording import KNOWN, holding_all, knowing, known_sentence
from ppdm_flow.mining.recoding.grouping import RowGrouping, added, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, Floats, KAnonymous, SensitiveColumns, exceeding
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.lkc.survey import (
    LkcSurvey,
    Names,
    known_sets,
    named,
    original_ways,
    originals_of,
    rows_once,
    rows_survey,
    secrets,
    share,
    together_confidence,
    worst_of,
)
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

_GROUPS = 1 << 19
"""Groups that one query may have, of several sets of columns."""


class LKCAudit:
    """Counts all that may be known once, and adds up for each combination."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest group and the highest confidence."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for requirement in _own(ctx):
            shown = [a for a in named(requirement) if carriers(a, candidate, ctx)]
            try:
                count = rows_survey if ctx.people is None else people_survey
                result = count(requirement, candidate, ctx)
            except UnmeasuredError as fault:
                measured.extend(not_measured(requirement, fault, ctx))
                findings.append(unmeasured(requirement.id, fault))
                continue
            own = {
                f"{requirement.id}.k": Figure(result.k, unit_of(ctx)),
                f"{requirement.id}.{CONFIDENCE}": Figure(result.confidence, "probability"),
                f"{requirement.id}.combinations": Figure(result.combinations, "combinations"),
                f"{requirement.id}.rows_left_out": Figure(result.left_out, "rows"),
            }
            figures |= own
            where = made_of((*result.fewest, *result.surest, *_carriers(shown, candidate, ctx)), ctx)
            judged = judge_known_attributes(
                requirement, result, shown, own, where + treatment(ctx.nulls, result.left_out), ctx
            )
            judged.extend(of_known_rows(requirement, result, ctx))
            try:
                for attribute in shown:
                    require_true_values(attribute, carriers(attribute, candidate, ctx), ctx)
            except RandomizedError as fault:
                judged = [
                    replace(m, sentence=fault.text, verifiable=False) if m.metric.endswith(CONFIDENCE) else m
                    for m in judged
                ]
                findings.append(unmeasured(requirement.id, fault))
            further = _together(requirement, candidate, ctx)
            further += _together_k(requirement, candidate, ctx)
            findings.extend(findings_of_unaccounted(further))
            figures |= {m.metric: m.figure for m in (*judged, *further)}
            measured.extend((*judged, *further))
            findings.extend(left_out(requirement.id, result.left_out))
            secret = tuple(named(requirement)) or sensitive_attributes(ctx)
            findings.extend(as_they_are(requirement.id, (*requirement.attributes, *shown), secret, candidate, ctx))
            true = bool(shown) and all(m.verifiable for m in judged)
            charts.extend(pictures(requirement, result, unit_of(ctx), true=true))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again in SQL: combinations of plain columns together, all others each by a query."""
        del original
        figures: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return figures
        for requirement in _own(ctx):
            if ctx.people is not None:
                with suppress(UnmeasuredError):
                    figures |= people_sql(requirement, candidate, ctx, ctx.sql)
                    figures |= _together_sql(requirement, candidate, ctx)
                continue
            secret, rows = secrets(requirement, ctx), rows_once(requirement, candidate, ctx)
            ways = [way for attribute in named(requirement) for way in readings(attribute, candidate, ctx)]
            sizes: list[float | None] = []
            shares, many = [0.0], 0
            try:
                originals = originals_of(requirement, candidate, ctx)
                every = [columns(known, secret, candidate, ctx) for known in known_sets(requirement, candidate, ctx)]
                nested = originals is None and ctx.nulls is Nulls.OWN_CATEGORY and not any(c.mixed for c in every)
                if nested and all(way.way is ReadingMethod.SHOWN for way in ways):
                    sizes, more = _sets_sql([c.grouping for c in every], ways, secret, rows, ctx.sql)
                    shares, every = [*shares, *more], []
                for released_columns in every:
                    mine = None if originals is None else originals.knowing(released_columns.known)
                    query = ClassQuery.of_rows(ctx.sql, mine or rows, released_columns, None, ctx.nulls)
                    sizes.append(query.worst(SIZE, 0.0, at_most=False)["worst"])
                    for way in ways:
                        query = ClassQuery.of_rows(ctx.sql, rows, released_columns, way, ctx.nulls)
                        shares.extend(_shares(query, secret[way.attribute]))
                    if mine is not None:
                        many += mine.original_rows_sql(released_columns.every)
                        for way in original_ways(requirement, candidate, ctx):
                            query = ClassQuery.of_rows(ctx.sql, mine, of_originals(released_columns), way, ctx.nulls)
                            shares.extend(_shares(query, secret[way.attribute]))
            except UnmeasuredError:
                continue
            figures |= _together_sql(requirement, candidate, ctx)
            if originals is not None:  # a class that repeats no original row is nobody's
                sizes = [size for size in sizes if size is not None]
                if not many and candidate.row_count > 0:
                    figures[f"{requirement.id}.repeated"] = 0
            figures[f"{requirement.id}.k"] = int(min((size or 0 for size in sizes), default=0))
            figures[f"{requirement.id}.confidence"] = max(shares)
        return figures


def _sets_sql(
    known: Sequence[Sequence[str]],
    ways: Sequence[ValueColumns],
    secret: Mapping[str, Sequence[str]],
    rows: CountedRows,
    sql: Sql,
) -> tuple[list[float | None], list[float]]:
    """Return the smallest groups of some sets of columns that form classes, and the largest shares in them."""
    names = tuple(dict.fromkeys((*chain.from_iterable(known), *(way.shown[0] for way in ways))))
    combos = rows.relation(names)
    if combos is None:
        raise ValueError("rows must be readable by SQL, but they have no database relation")
    place = {name: f"c{i}" for i, name in enumerate(names)}
    hits = [f"COALESCE(SUM(n) FILTER (LIST_CONTAINS(?::VARCHAR[], {place[way.shown[0]]})), 0)" for way in ways]
    each = "".join(f", {hit} / CAST(SUM(n) AS DOUBLE) AS share{i}" for i, hit in enumerate(hits))
    worst = "".join(f", MAX(share{i})" for i in range(len(ways)))
    parameters = [list(secret[way.attribute]) for way in ways]
    sizes: list[float | None] = []
    shares: list[float] = []
    many = max(1, _GROUPS // max(1, len(rows.counts(names).counts)))
    for start in range(0, len(known), many):
        sets = ", ".join(f"({', '.join(place[name] for name in one)})" for one in known[start : start + many])
        text = f"""
            SELECT MIN(size){worst}
            FROM (SELECT CAST(SUM(n) AS DOUBLE) AS size{each} FROM ({combos.text}) GROUP BY GROUPING SETS ({sets}))"""  # noqa: S608  # our own names
        ((size, *some),) = sql.rows(text, parameters, combos.tables)
        sizes.append(size)
        shares.extend(float(share or 0.0) for share in some)
    return sizes, shares


def _together(requirement: LKC, candidate: DataView, ctx: AuditContext) -> list[Measured]:
    """Judge what the run's other releases leave of possible values; nothing where they tell nothing of it."""
    if requirement.c is None:
        return []
    metric = f"{requirement.id}.together_confidence"
    try:
        joint = together_confidence(requirement, candidate, ctx)
    except UnmeasuredError as fault:
        return [unaccounted(requirement.id, metric, "probability", requirement.c, fault, at_most=True)]
    if joint is None:
        return []
    worst, names = joint
    text = intersected("the confidence", worst, f"at most {requirement.c:g} is allowed", 0, names)
    return [Measured(requirement.id, metric, Figure(worst, "probability"), requirement.c, at_most=True, sentence=text)]


def _together_k(requirement: LKC, candidate: DataView, ctx: AuditContext) -> list[Measured]:
    """Return the smallest group beside all releases, over all sets of known attributes."""
    measurements = [
        measured
        for known in known_sets(requirement, candidate, ctx, beside=True)
        for measured in beside_all(requirement.id, "together_k", requirement.k, known, ctx)
    ]
    return sorted(measurements, key=lambda m: -1 if m.figure.value is None else m.figure.value)[:1]


def _together_sql(requirement: LKC, candidate: DataView, ctx: AuditContext) -> dict[str, float | int | None]:
    """Return the figures beside all releases by the second route."""
    figures: dict[str, float | int | None] = {}
    if ctx.sql is None:
        return figures
    with suppress(UnmeasuredError):
        every = known_sets(requirement, candidate, ctx, beside=True)
        group_sizes = [joint_size_sql(known, ctx, ctx.sql) for known in every]
        if sizes := [size for size in group_sizes if size is not None]:
            figures[f"{requirement.id}.together_k"] = min(sizes)
    with suppress(UnmeasuredError):
        if together_confidence(requirement, candidate, ctx) is not None:
            figures[f"{requirement.id}.together_confidence"] = _confidence_sql(requirement, candidate, ctx, ctx.sql)
    return figures


def _confidence_sql(requirement: LKC, candidate: DataView, ctx: AuditContext, sql: Sql) -> float:
    worst = 0.0
    for attribute, wanted in secrets(requirement, ctx).items():
        for known in known_sets(requirement, candidate, ctx, beside=True):
            read = joint_values(known, attribute, ctx)
            if read is None:
                continue
            for tables in joint_tables(known, attribute, ctx, sql, PeopleFigure.CONFIDENCE):
                text = f"SELECT COALESCE(MAX(v), 0) FROM ({_SHARE})"  # noqa: S608  # our own query
                worst = max(worst, read.together, float(sql.rows(text, [list(wanted)], tables)[0][0]))
    return worst


def _untrue(measured: Measured, fault: RandomizedError) -> Measured:
    return replace(measured, sentence=fault.text, verifiable=False)


def _own(ctx: AuditContext) -> list[LKC]:
    return [r for r in ctx.requirements if isinstance(r, LKC)]


def _carriers(attributes: Sequence[str], candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    return tuple(c for a in attributes for c in carriers(a, candidate, ctx))


def _shares(query: ClassQuery, values: Sequence[str]) -> Iterator[float]:
    """Yield the largest share of rows with one of the values, over all crowds and over the means of their cells."""
    for one in (query, *([query.of_means()] if query.mixed else [])):
        yield float(one.worst(_SHARE, 1.0, at_most=True, parameters=[list(values)])["worst"] or 0.0)


_SHARE = (
    "SELECT id, COALESCE(SUM(n) FILTER (LIST_CONTAINS(?::VARCHAR[], s)), 0) / MAX(size) AS v"
    " FROM cells JOIN sizes USING (id) GROUP BY id"
)
"""The share of rows with one of the values, in each group."""


# LKC-privacy where a person can have several rows: people and their values are counted, by two routes.
#
# An adversary who knows one row of a person finds the people who have a row in the group. An adversary who knows
# several rows, or sees which rows are one person's, finds the linked people who have them all. A person counts with any
# of the named values that the person has.


_OF_PEOPLE_SHARE = """
    SELECT id, COALESCE(SUM(n) FILTER (s = ?), 0) / MAX(size) AS v FROM cells JOIN sizes USING (id) GROUP BY id"""
"""The share of the named values, which count as one."""


@dataclass(slots=True)
class _WorstOfKnownRows:
    """The worst that several known rows tell so far."""

    k: list[int] = field(default_factory=list)
    confidence: list[float] = field(default_factory=list)
    linked: str = ""


def people_survey(requirement: LKC, candidate: DataView, ctx: AuditContext) -> LkcSurvey:
    """Count people. Raises UnmeasuredError where nobody can say whose rows they are, or what several tell."""
    people = _required(ctx)
    rows, ways = rows_once(requirement, candidate, ctx), _ways(requirement, candidate, ctx)
    every, sizes, shares, left, further = [], [], [], [], _WorstOfKnownRows()
    for known in known_sets(requirement, candidate, ctx):
        released = columns(known, secrets(requirement, ctx), candidate, ctx)
        groups = people_in_classes(released, rows, ctx.nulls, people)
        every.append(released.every)
        sizes.append(groups.k)
        left.append(groups.left_out)
        shares.append(_confidence(ways, released, rows, ctx, people))
        _look_further(further, ways, released, candidate, ctx)
    alone = worst_of(every, sizes, shares, left)
    k, confidence = min(further.k, default=None), max(further.confidence, default=None)
    return replace(alone, known_k=k, known_confidence=confidence, linked=further.linked)


def _required(ctx: AuditContext) -> PeopleCount:
    if ctx.people is None:
        raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
    require_people(ctx.people, ctx)
    return ctx.people


def _ways(requirement: LKC, candidate: DataView, ctx: AuditContext) -> list[tuple[ValueColumns, tuple[str, ...]]]:
    """Return each way of reading a sensitive attribute that the requirement names, with the values that it names."""
    values = secrets(requirement, ctx)
    return [(way, values[name]) for name in named(requirement) for way in readings(name, candidate, ctx)]


def _confidence(
    ways: list[tuple[ValueColumns, tuple[str, ...]]],
    released: RevealingColumns,
    rows: SharedCounts,
    ctx: AuditContext,
    people: PeopleCount,
) -> float:
    """Return the largest confidence of one group in the values of an attribute."""
    worst = 0.0
    read = people_values(released, [way for way, _ in ways], rows, ctx.nulls, people)
    for one, (_, values) in zip(read, ways, strict=True):
        confidences = one.merged(values).confidences
        worst = max(worst, *(share(histograms, (NAMED,)) for histograms in confidences if histograms is not None))
    return worst


def _look_further(
    extremes: _WorstOfKnownRows,
    ways: list[tuple[ValueColumns, tuple[str, ...]]],
    released: RevealingColumns,
    candidate: DataView,
    ctx: AuditContext,
) -> None:
    """Add what several known rows tell beside these columns."""
    smallest = None
    if may_link(released, candidate, ctx):
        known = KnownRows.of(released, None, candidate, ctx)
        smallest = known.smallest_crowd().smallest
        extremes.k += [] if smallest is None else [smallest]
        extremes.linked = extremes.linked or known.linked_by
    for way, values in ways if smallest is not None or _several_matter(ctx) else ():
        known = KnownRows.of(released, way, candidate, ctx, chances=True).merging(values)
        for histograms in (*known.histograms(confidences=True), *known.chances()):
            extremes.confidence.append(share(histograms, (NAMED,)))


def _several_matter(ctx: AuditContext) -> bool:
    """Whether unlinked rows tell more together; or others are linked once rows that miss a value are left out."""
    return ctx.nulls is Nulls.EXCLUDE or ctx.people is None or ctx.people.known_rows != 1


def people_sql(requirement: LKC, candidate: DataView, ctx: AuditContext, sql: Sql) -> Mapping[str, float | int]:
    """Return the figures by the second route. Raises UnmeasuredError as the first."""
    people = _required(ctx)
    rows, ways = rows_once(requirement, candidate, ctx), _ways(requirement, candidate, ctx)
    sizes, shares, further = [], [0.0], _WorstOfKnownRows()
    for known in known_sets(requirement, candidate, ctx):
        released = columns(known, secrets(requirement, ctx), candidate, ctx)
        require_linkable_sql(sql, released, candidate, ctx, chances=bool(ways))
        query = PeopleQuery.of_people(sql, rows, released, None, ctx.nulls, people)
        sizes.append(round(query.worst(SIZE, 0.0, at_most=False)["worst"] or 0))
        for way, values in ways:
            query = PeopleQuery.of_people(sql, rows, released, way, ctx.nulls, people, confidences=True, merged=values)
            shares.extend(_shares_sql(query))
        _look_further_sql(further, ways, released, candidate, ctx, sql)
    figures: dict[str, float | int] = {"k": min(sizes), "confidence": max(shares)}
    figures |= {f"{KNOWN}k": min(further.k)} if further.k else {}
    figures |= {f"{KNOWN}confidence": max(further.confidence)} if further.confidence else {}
    return {f"{requirement.id}.{name}": value for name, value in figures.items()}


def _shares_sql(query: PeopleQuery) -> Iterator[float]:
    if query.mixed:
        figures, means, _ = query.figures_and_means(_OF_PEOPLE_SHARE, [NAMED])
        yield float(figures.max(initial=0.0))
        yield float(means.max(initial=0.0))
        return
    yield float(query.worst(_OF_PEOPLE_SHARE, 1.0, at_most=True, parameters=[NAMED])["worst"] or 0.0)


def _look_further_sql(
    extremes: _WorstOfKnownRows,
    ways: list[tuple[ValueColumns, tuple[str, ...]]],
    released: RevealingColumns,
    candidate: DataView,
    ctx: AuditContext,
    sql: Sql,
) -> None:
    smallest = KnownQuery.of_known(sql, released, None, candidate, ctx).smallest_crowd()
    extremes.k += [] if smallest is None else [smallest]
    for way, values in ways if smallest is not None or _several_matter(ctx) else ():
        query = KnownQuery.of_known(sql, released, way, candidate, ctx, confidences=True, merged=values)
        worst = query.worst_figure(_OF_PEOPLE_SHARE, [NAMED], at_most=True) if query.links() else None
        chances = query.chances_query(sql)
        extremes.confidence += [] if worst is None else [worst]
        extremes.confidence += (
            [] if chances is None else [chances.worst_figure(_OF_PEOPLE_SHARE, [NAMED], at_most=True) or 0.0]
        )


# What LKC-privacy found, in sentences with the figures that they are about.


CONFIDENCE = "confidence"
"""Figures that bound how sure somebody is end so."""


def unit_of(ctx: AuditContext) -> str:
    """Return what is counted."""
    return "rows" if ctx.people is None else "people"


def not_measured(requirement: LKC, fault: UnmeasuredError, ctx: AuditContext) -> Iterator[Measured]:
    """Yield what cannot be said of it."""
    names = ["k"] if requirement.c is None else ["k", CONFIDENCE]
    for name, bound in zip(names, (float(requirement.k), requirement.c), strict=False):
        unit, at_most = (unit_of(ctx), False) if name == "k" else ("probability", True)
        figure = Figure(None, unit, note=fault.text)
        metric = f"{requirement.id}.{name}"
        yield Measured(requirement.id, metric, figure, bound or 0.0, at_most, fault.text, verifiable=False)


def judge_known_attributes(
    requirement: LKC,
    survey: LkcSurvey,
    shown: Sequence[str],
    figures: Mapping[str, Figure],
    end: str,
    ctx: AuditContext,
) -> list[Measured]:
    """Return what an adversary who knows at most L attributes finds and infers; ``shown`` are the attributes named."""
    name = f"{requirement.id}.k"
    row = "row" if survey.repeated is None else "original row"
    if survey.k == 0:
        text = "There is no row to measure, so nothing can be said of it."
    else:
        many = counted(survey.k, row if ctx.people is None else "person")
        text = (
            f"A reader who knows at most {counted(requirement.l, 'quasi-identifier')} of a person finds at least"
            f" {many} that fit ({_by(survey.fewest)}); {requirement.k:,} are required.{end}"
        )
    results = [Measured(requirement.id, name, figures[name], float(requirement.k), at_most=False, sentence=text)]
    if survey.repeated == 0:
        results = [unrepeated(requirement.id)]
    if requirement.c is not None:
        name = f"{requirement.id}.{CONFIDENCE}"
        what = listed(shown)
        who = known_by(survey.surest) if survey.surest or survey.combinations == 1 else "Anyone"
        text = (
            f"{who} can infer one of the sensitive values of {what} with a confidence of at most"
            f" {survey.confidence:.4g}, and no other combination of as few tells more; at most {requirement.c:g} is"
            f" allowed.{end}"
            if shown
            else "None of the sensitive attributes is released, so nothing can be inferred of them."
        )
        results.append(Measured(requirement.id, name, figures[name], requirement.c, at_most=True, sentence=text))
    return results


def of_known_rows(requirement: LKC, survey: LkcSurvey, ctx: AuditContext) -> Iterator[Measured]:
    """Yield what an adversary who knows several rows of a person finds and infers; nothing where rows are counted."""
    if ctx.people is None:
        return
    if survey.known_k is not None:
        figure = Figure(survey.known_k, "people")
        text = (
            f"{knowing(ctx.people)}, of each at most {counted(requirement.l, 'quasi-identifier')}, finds at least"
            f" {holding_all(survey.known_k)}; {requirement.k:,} are required.{survey.linked}"
        )
        yield Measured(requirement.id, f"{requirement.id}.{KNOWN}k", figure, float(requirement.k), False, text)
    if survey.known_confidence is not None and requirement.c is not None:
        figure = Figure(survey.known_confidence, "probability")
        text = known_sentence("a confidence", figure, requirement.c, ctx.people, at_most=True) + survey.linked
        yield Measured(requirement.id, f"{requirement.id}.{KNOWN}{CONFIDENCE}", figure, requirement.c, True, text)


def _by(columns: tuple[str, ...]) -> str:
    return f"fewest by {listed(columns)}" if columns else "no quasi-identifier is released"


_MOST = 12


def pictures(requirement: LKC, survey: LkcSurvey, unit: str, *, true: bool) -> Iterator[Chart]:
    """Yield the combinations that find fewest rows or people, and those that infer most, where values are ``true``.

    ``unit`` is what is counted.
    """
    if not survey.k:
        return
    fewest = [(known, float(rows)) for known, rows, _ in sorted(survey.each, key=lambda one: one[1])]
    yield _chart(requirement, unit, fewest, f"At least {requirement.k:,} are required.")
    if requirement.c is not None and true:
        surest = [(known, share) for known, _, share in sorted(survey.each, key=lambda one: -one[2])]
        yield _chart(requirement, "confidence", surest, f"At most {requirement.c:g} is allowed.")


def _chart(requirement: LKC, unit: str, each: list[tuple[Names, float]], note: str) -> Chart:
    shown = each[:_MOST]
    left = f" {len(each) - _MOST:,} further combinations are safer." if len(each) > _MOST else ""
    few = unit != "confidence"
    return Chart(
        id=f"{requirement.id}.by_{unit}",
        title=f"Fewest {unit} that fit what is known" if few else "Highest confidence by what is known",
        kind="bars",
        x=tuple(", ".join(known) or "nothing" for known, _ in shown),
        series=(FigureSeries("smallest group" if few else "highest confidence", tuple(value for _, value in shown)),),
        x_label="known quasi-identifiers",
        y_label=unit if few else "probability",
        note=note + left,
        group=requirement.kind,
    )


@dataclass(frozen=True, slots=True)
class UnionBounded(ClassModel):
    """Any of ``values`` (codes) has a share of at most ``most``, all of them together (Mohammed et al. 2009)."""

    attribute: int
    most: float
    values: tuple[int, ...]

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare the sum of their shares."""
        return self._together(grouping) <= self.most + SLACK

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """A sum of shares is linear and at most 1."""
        return exceeding(self._together(grouping), np.array(self.most))

    def _together(self, grouping: RowGrouping) -> Floats:
        cells = grouping.cells[self.attribute]
        named = np.isin(cells.value, self.values)
        return added(cells, np.where(named, shares(cells, grouping.sizes), 0.0))


def models(requirement: LKC, columns: SensitiveColumns) -> list[ClassModel]:
    """Return what a class must keep: k, and c for the values of each sensitive attribute together."""
    bounded: list[ClassModel] = [KAnonymous(requirement.k)]
    if requirement.c is not None:
        for name in requirement.secrets:
            values = [value for attribute, value in requirement.pairs if attribute == name]
            bounded.append(UnionBounded(columns.place(name), requirement.c, columns.codes(name, values)))
    return bounded
