"""Totals of the people who have the known rows of one person, where rows are seen to be one person's; by two routes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.core.results import Figure, Measured
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.people.known import KnownRows
from ppdm_flow.mining.people.known_query import KnownQuery, require_linkable_sql
from ppdm_flow.mining.people.wording import KNOWN, known_sentence
from ppdm_flow.requirements.dominance.concentration import of_people
from ppdm_flow.requirements.dominance.figures import RULES, UNITS, bounds, largest_and_least
from ppdm_flow.requirements.dominance.query import worst_known_sql
from ppdm_flow.requirements.dominance.reading import ReadRows, numbers_of
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

Worst = tuple[float | int | None, ...]


def known_totals(
    requirement: Dominance, ways: Iterable[ReadRows], by: RevealingColumns, candidate: DataView, ctx: AuditContext
) -> list[Measured]:
    """Judge the totals over all linked rows of the people of one combination; nothing where no row is linked.

    Where rows are unlinked, whoever knows several of a person's has no more than the union of some groups. Raises
    UnmeasuredError.
    """
    if ctx.people is None:
        return []
    worst: Worst = (None,) * len(RULES)
    linked = ""
    for looked in ways:
        known = KnownRows.of(by, looked.reading, candidate, ctx, values_known=False)
        linked = linked or known.linked_by
        numbers = numbers_of(known.names, requirement.attribute, strict=looked.strict)
        for groups, held in known.entries():
            each = of_people(held, numbers, groups, requirement.n, requirement.q)
            worst = _worse(worst, largest_and_least(each))
    return list(_judged(requirement, worst, linked, ctx))


def known_totals_sql(
    requirement: Dominance,
    ways: Iterable[ReadRows],
    by: RevealingColumns,
    candidate: DataView,
    ctx: AuditContext,
    sql: Sql,
) -> dict[str, float | int | None]:
    """Return the same figures by SQL, which links rows by itself. Raises UnmeasuredError."""
    if ctx.people is None:
        return {}
    require_linkable_sql(sql, by, candidate, ctx)
    worst: Worst = (None,) * len(RULES)
    for looked in ways:
        query = KnownQuery.of_known(sql, by, looked.reading, candidate, ctx, values_known=False)
        if query.links():
            worst = _worse(worst, worst_known_sql(requirement, query))
    found = dict(zip(RULES, worst, strict=True))
    return {KNOWN + rule: found[rule] for rule in bounds(requirement) if found[rule] is not None}


def _worse(one: Worst, other: Worst) -> Worst:
    both = zip(one, other, (max, min, min), strict=True)
    return tuple(b if a is None else a if b is None else worse(a, b) for a, b, worse in both)


def _judged(requirement: Dominance, worst: Worst, linked: str, ctx: AuditContext) -> Iterator[Measured]:
    found = dict(zip(RULES, worst, strict=True))
    for rule, bound in bounds(requirement).items():
        value = found[rule]
        if value is None or ctx.people is None:
            continue
        figure, at_most = Figure(value, UNITS[rule]), rule == "share"
        what = f"totals of `{requirement.attribute}` with a {rule}"
        text = known_sentence(what, figure, bound, ctx.people, at_most=at_most) + linked
        yield Measured(requirement.id, f"{requirement.id}.{KNOWN}{rule}", figure, bound, at_most, text)
