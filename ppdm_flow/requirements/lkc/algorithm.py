"""LKC-privacy, measured: every combination of at most L quasi-identifiers (Mohammed, Fung, Hung, Lee, KDD 2009).

At least K rows fit whatever is known, and of those that fit a share of at most C has one of the sensitive values that
are named of an attribute: these are counted together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import (
    as_they_are,
    intersected,
    left_out,
    treatment,
    unmeasured,
)
from ppdm_flow.mining.exposure.columns import carriers, columns, made_of, readings, sensitive_attributes
from ppdm_flow.mining.exposure.faults import RandomizedError, UnmeasuredError, require_true_values
from ppdm_flow.mining.exposure.joint_sizes import beside_all, findings_of_unaccounted, unaccounted
from ppdm_flow.mining.exposure.query import ClassQuery
from ppdm_flow.mining.exposure.repeated import of_originals
from ppdm_flow.mining.exposure.sizes import SIZE
from ppdm_flow.mining.exposure.together import joint_size_sql, joint_tables, joint_values
from ppdm_flow.requirements.lkc.of_people import people_sql, people_survey
from ppdm_flow.requirements.lkc.picture import pictures
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.lkc.sentences import CONFIDENCE, held, not_measured, of_known_rows, unit_of
from ppdm_flow.requirements.lkc.survey import (
    known_sets,
    named,
    original_ways,
    originals_of,
    rows_once,
    rows_survey,
    secrets,
    together_confidence,
)
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView


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
            judged = held(requirement, result, shown, own, where + treatment(ctx.nulls, result.left_out), ctx)
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
        """Count again in SQL, a query for each combination."""
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
            sizes, shares, many = [], [0.0], 0
            try:
                originals = originals_of(requirement, candidate, ctx)
                for known in known_sets(requirement, candidate, ctx):
                    released_columns = columns(known, secret, candidate, ctx)
                    mine = None if originals is None else originals.knowing(released_columns.known)
                    query = ClassQuery.of_rows(ctx.sql, mine or rows, released_columns, None, ctx.nulls)
                    sizes.append(query.worst(SIZE, 0.0, at_most=False)["worst"])
                    for way in ways:
                        query = ClassQuery.of_rows(ctx.sql, rows, released_columns, way, ctx.nulls)
                        shares.extend(_shares(query, secret[way.attribute]))
                    if mine is not None:
                        many += mine.again(released_columns.every)
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
    """Return the smallest group beside all releases, whatever of the attributes is known."""
    found = [
        measured
        for known in known_sets(requirement, candidate, ctx, beside=True)
        for measured in beside_all(requirement.id, "together_k", requirement.k, known, ctx)
    ]
    return sorted(found, key=lambda m: -1 if m.figure.value is None else m.figure.value)[:1]


def _together_sql(requirement: LKC, candidate: DataView, ctx: AuditContext) -> dict[str, float | int | None]:
    """Return the figures beside all releases by the second route."""
    figures: dict[str, float | int | None] = {}
    if ctx.sql is None:
        return figures
    with suppress(UnmeasuredError):
        every = known_sets(requirement, candidate, ctx, beside=True)
        found = [joint_size_sql(known, ctx, ctx.sql) for known in every]
        if sizes := [size for size in found if size is not None]:
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
