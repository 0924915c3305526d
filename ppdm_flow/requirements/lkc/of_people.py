"""LKC-privacy where a person can have several rows: people and their values are counted, by two routes.

Whoever knows a row of somebody finds the people who have one in the group. Whoever knows several, or sees which rows
are one person's, finds the linked people who have them all; and of the named values any one that a person has counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns, columns, readings
from ppdm_flow.mining.exposure.rows import SharedCounts
from ppdm_flow.mining.exposure.sizes import SIZE
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.mining.people.groups import NAMED
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery, require_linkable_sql
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.mining.people.sizes import people_in_classes
from ppdm_flow.mining.people.values import people_values
from ppdm_flow.mining.people.wording import KNOWN
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.lkc.survey import LkcSurvey, known_sets, named, rows_once, secrets, share, worst_of
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

_SHARE = """
    SELECT id, COALESCE(SUM(n) FILTER (s = ?), 0) / MAX(size) AS v FROM cells JOIN sizes USING (id) GROUP BY id"""
"""The share of the named values, which count as one."""


@dataclass(slots=True)
class _Known:
    """The worst that several known rows tell so far."""

    k: list[int] = field(default_factory=list)
    confidence: list[float] = field(default_factory=list)
    linked: str = ""


def people_survey(requirement: LKC, candidate: DataView, ctx: AuditContext) -> LkcSurvey:
    """Count people. Raises UnmeasuredError where nobody can say whose rows they are, or what several tell."""
    people = _required(ctx)
    rows, ways = rows_once(requirement, candidate, ctx), _ways(requirement, candidate, ctx)
    every, sizes, shares, left, further = [], [], [], [], _Known()
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
        raise ValueError("the policy counts no people")
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
        told = one.merged(values).confidences
        worst = max(worst, *(share(histograms, (NAMED,)) for histograms in told if histograms is not None))
    return worst


def _look_further(
    found: _Known,
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
        found.k += [] if smallest is None else [smallest]
        found.linked = found.linked or known.linked_by
    for way, values in ways if smallest is not None or _several_matter(ctx) else ():
        known = KnownRows.of(released, way, candidate, ctx, chances=True).merging(values)
        for told in (*known.histograms(confidences=True), *known.chances()):
            found.confidence.append(share(told, (NAMED,)))


def _several_matter(ctx: AuditContext) -> bool:
    """Whether unlinked rows tell more together; or others are linked once rows that miss a value are left out."""
    return ctx.nulls is Nulls.EXCLUDE or ctx.people is None or ctx.people.known_rows != 1


def people_sql(requirement: LKC, candidate: DataView, ctx: AuditContext, sql: Sql) -> Mapping[str, float | int]:
    """Return the figures by the second route. Raises UnmeasuredError as the first."""
    people = _required(ctx)
    rows, ways = rows_once(requirement, candidate, ctx), _ways(requirement, candidate, ctx)
    sizes, shares, further = [], [0.0], _Known()
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
        figures, means, _ = query.figures_and_means(_SHARE, [NAMED])
        yield float(figures.max(initial=0.0))
        yield float(means.max(initial=0.0))
        return
    yield float(query.worst(_SHARE, 1.0, at_most=True, parameters=[NAMED])["worst"] or 0.0)


def _look_further_sql(
    found: _Known,
    ways: list[tuple[ValueColumns, tuple[str, ...]]],
    released: RevealingColumns,
    candidate: DataView,
    ctx: AuditContext,
    sql: Sql,
) -> None:
    smallest = KnownQuery.of_known(sql, released, None, candidate, ctx).smallest_crowd()
    found.k += [] if smallest is None else [smallest]
    for way, values in ways if smallest is not None or _several_matter(ctx) else ():
        query = KnownQuery.of_known(sql, released, way, candidate, ctx, confidences=True, merged=values)
        worst = query.worst_figure(_SHARE, [NAMED], at_most=True) if query.links() else None
        chances = query.chances_query(sql)
        found.confidence += [] if worst is None else [worst]
        found.confidence += [] if chances is None else [chances.worst_figure(_SHARE, [NAMED], at_most=True) or 0.0]
