"""Dominance of a release: whether a group's total reveals one contributor's number too closely.

Three rules of statistical offices on the absolute values in each group: (n, k)-dominance, the p% rule with its form for
prior knowledge (pq), and a least number of contributors (Hundepool et al., Statistical Disclosure Control, 2012,
section 4.2). The numbers that the released rows had in the source are added up, and those that changed columns show;
each rule is judged by the worse of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.mining.class_people.seen import OfHoldings
from ppdm_flow.mining.classes import other_releases
from ppdm_flow.mining.classes.measures import PREFIX
from ppdm_flow.mining.classes.wording import as_they_are, left_out, treatment, unmeasured, unreleased
from ppdm_flow.mining.exposure.columns import RevealingColumns, carriers, made_of
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.numbers import UnnumberedError
from ppdm_flow.mining.exposure.query import ClassQuery
from ppdm_flow.mining.exposure.rows import CountedRows, ReleasedRows
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.mining.people.groups import GroupEntries
from ppdm_flow.mining.people.known import KnownRows
from ppdm_flow.mining.people.known_query import KnownQuery, require_linkable_sql
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.mining.people.wording import KNOWN, known_sentence
from ppdm_flow.mining.recoding.grouping import RowGrouping
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, Floats, SensitiveColumns
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.dominance.reading import (
    HIGH,
    RULES,
    UNIT,
    UNITS,
    Concentrations,
    DominanceGroups,
    ReadRows,
    bounds,
    broken,
    concentrations,
    largest_and_least,
    looked_at,
    numbers_of,
    of_people,
    revealing,
    side,
    summary,
)
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

_OTHERS = {"groups": "groups", "groups_with_total": "groups", "groups_beyond": "groups", "rows_beyond": "rows"}
Values = dict[str, float | int | None]
Worst = tuple[float | int | None, ...]


class DominanceAudit:
    """Adds up the numbers of every group, and looks at its largest contributors."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the worst group by each rule, and how many break one."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for requirement in _own(ctx):
            carrying = carriers(requirement.attribute, candidate, ctx)
            figures[f"{requirement.id}.columns"] = Figure(len(carrying), "columns")
            if not carrying:
                measured.append(unreleased(requirement))
                continue
            by = revealing(requirement, candidate, ctx)
            try:
                rows = ReleasedRows(candidate, ctx)
                sides = _sides(requirement, rows, by, candidate, ctx)
                known = known_totals(requirement, looked_at(requirement, rows, candidate, ctx), by, candidate, ctx)
                together = _beside(requirement, by, candidate, ctx)
            except UnmeasuredError as fault:
                measured.extend(_unverified(requirement, fault.text))
                findings.append(unmeasured(requirement.id, fault))
                continue
            left = sides[0].left_out
            own = summary(requirement, sides)
            figures |= {f"{requirement.id}.{name}": _figure(name, value) for name, value in own.items()}
            figures[f"{requirement.id}.rows_left_out"] = Figure(left, "rows")
            tail = beyond(own) + made_of((*by.every, *carrying), ctx)
            measured.extend(_judged(requirement, own, by, tail + treatment(ctx.nulls, left)))
            figures |= {m.metric: m.figure for m in known} | together[0]
            measured.extend(known)
            measured.extend(together[1])
            findings.extend(left_out(requirement.id, left))
            named, secret = (*requirement.attributes, requirement.attribute), (requirement.attribute,)
            findings.extend(as_they_are(requirement.id, named, secret, candidate, ctx))
            charts.extend(pictures(requirement, _worst_of(requirement, sides)))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Read, rank and add up again in SQL."""
        del original
        figures: Values = {}
        for requirement in _own(ctx):
            carrying = carriers(requirement.attribute, candidate, ctx)
            figures[f"{requirement.id}.columns"] = len(carrying)
            if not carrying:
                continue
            by = revealing(requirement, candidate, ctx)
            own = _figures_sql(requirement, ReleasedRows(candidate, ctx), by, candidate, ctx)
            known = _known_sql(requirement, by, candidate, ctx) if own else {}
            own = {} if known is None else {**own, **known}
            figures |= {f"{requirement.id}.{name}": value for name, value in own.items()}
            rows = other_releases.rows(candidate, ctx) if own else None
            if rows is not None:
                others = _figures_sql(requirement, rows, by, candidate, ctx)
                figures |= {f"{requirement.id}.{PREFIX}{name}": others[name] for name in (*RULES, "groups_beyond")}
        return figures


def _own(ctx: AuditContext) -> list[Dominance]:
    return [r for r in ctx.requirements if isinstance(r, Dominance)]


def _sides(
    requirement: Dominance, rows: CountedRows, by: RevealingColumns, candidate: DataView, ctx: AuditContext
) -> list[DominanceGroups]:
    """Measure the groups of rows in every way. Raises UnmeasuredError."""
    if ctx.people is not None:
        require_people(ctx.people, ctx)
    return [side(requirement, looked, by, ctx) for looked in looked_at(requirement, rows, candidate, ctx)]


def _figures_sql(
    requirement: Dominance, rows: CountedRows, by: RevealingColumns, candidate: DataView, ctx: AuditContext
) -> Values:
    """Return the figures of the second route; none where there are none."""
    if ctx.sql is None:
        return {}
    try:  # what the first route cannot read, this one need not read either
        _sides(requirement, rows, by, candidate, ctx)
        ways = looked_at(requirement, rows, candidate, ctx)
    except UnmeasuredError:
        return {}
    return summary(requirement, [side_sql(requirement, looked, by, ctx, ctx.sql) for looked in ways])


def _known_sql(requirement: Dominance, by: RevealingColumns, candidate: DataView, ctx: AuditContext) -> Values | None:
    """Return the second route's figures of linked rows; None where nothing can be said of them."""
    if ctx.sql is None:
        return None
    try:
        ways = looked_at(requirement, ReleasedRows(candidate, ctx), candidate, ctx)
        return known_totals_sql(requirement, ways, by, candidate, ctx, ctx.sql)
    except UnmeasuredError:
        return None


def _worst_of(requirement: Dominance, sides: Sequence[DominanceGroups]) -> DominanceGroups:
    return max(sides, key=lambda s: (int(broken(requirement, s.each).sum()), float(s.each.share.max(initial=0.0))))


def _figure(name: str, value: float | None) -> Figure:
    note = "" if value is not None else "no group has a number other than 0"
    return Figure(value, _OTHERS.get(name) or UNITS[name.removeprefix(PREFIX)], note=note)


def _judged(requirement: Dominance, own: Values, by: RevealingColumns, end: str) -> Iterator[Measured]:
    """Yield what each rule that is asked for found."""
    if not own["groups"]:
        yield from _unverified(requirement, NO_ROW)
        return
    if not own["groups_with_total"]:
        name = "groups_with_total"
        yield Measured(
            requirement.id, f"{requirement.id}.{name}", Figure(0, "groups"), 0.0, True, no_total(requirement) + end
        )
        return
    for rule, bound in bounds(requirement).items():
        value = own[rule]
        text = sentence(requirement, rule, float(value or 0.0), by) + end
        yield Measured(requirement.id, f"{requirement.id}.{rule}", _figure(rule, value), bound, rule == "share", text)


def _unverified(requirement: Dominance, text: str) -> Iterator[Measured]:
    for rule, bound in bounds(requirement).items():
        figure, name = Figure(None, UNITS[rule], note=text), f"{requirement.id}.{rule}"
        yield Measured(requirement.id, name, figure, bound, rule == "share", text, verifiable=False)


def _beside(
    requirement: Dominance, by: RevealingColumns, candidate: DataView, ctx: AuditContext
) -> tuple[dict[str, Figure], list[Measured]]:
    """Judge the groups of people that all releases of the ledger leave together. Raises UnmeasuredError."""
    if not other_releases.applies(ctx):
        return {}, []
    rows = other_releases.rows(candidate, ctx)
    if rows is None:
        return {}, list(_unverified(requirement, other_releases.obstacle(ctx)))
    sides = _sides(requirement, rows, by, candidate, ctx)
    own = summary(requirement, sides)
    figures = {f"{PREFIX}{name}": _figure(name, own[name]) for name in (*RULES, "groups_beyond")}
    measured = []
    for rule, bound in bounds(requirement).items() if own["groups_with_total"] else ():
        text = other_releases.sentence(
            f"{rule} of `{requirement.attribute}`",
            own[rule],
            f"{'at most' if rule == 'share' else 'at least'} {bound:g} is required",
            int(own["rows_beyond"] or 0),
            ctx,
            _colliding(requirement, by, candidate, ctx) if own["groups_beyond"] else [],
        )
        name = f"{requirement.id}.{PREFIX}{rule}"
        measured.append(Measured(requirement.id, name, figures[f"{PREFIX}{rule}"], bound, rule == "share", text))
    return {f"{requirement.id}.{name}": figure for name, figure in figures.items()}, measured


def _colliding(requirement: Dominance, by: RevealingColumns, candidate: DataView, ctx: AuditContext) -> list[str]:
    """Return the other releases that alone leave a group that breaks a rule."""
    names = []
    for earlier, rows in other_releases.one_by_one(candidate, ctx):
        sides = _sides(requirement, rows, by, candidate, ctx)
        if any(broken(requirement, s.each).any() for s in sides):
            names.append(earlier.name)
    return names


# Totals of the people who have the known rows of one person, where rows are seen to be one person's; by two routes.


def known_totals(
    requirement: Dominance, ways: Iterable[ReadRows], by: RevealingColumns, candidate: DataView, ctx: AuditContext
) -> list[Measured]:
    """Judge the totals over all linked rows of the people of one combination; nothing where no row is linked.

    Where rows are unlinked, an adversary who knows several of a person's rows has no more than the union of some
    groups. Raises UnmeasuredError.
    """
    if ctx.people is None:
        return []
    worst: Worst = (None,) * len(RULES)
    linked = ""
    for looked in ways:
        known = KnownRows.of(by, looked.reading, candidate, ctx, values_known=False)
        linked = linked or known.linked_by
        numbers = numbers_of(known.names, requirement.attribute, strict=looked.strict)
        for groups, entries in known.entries():
            each = of_people(entries, numbers, groups, requirement.n, requirement.q)
            worst = _worse(worst, largest_and_least(each))
    return list(_known_rows_judged(requirement, worst, linked, ctx))


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
    worst_by_rule = dict(zip(RULES, worst, strict=True))
    return {KNOWN + rule: worst_by_rule[rule] for rule in bounds(requirement) if worst_by_rule[rule] is not None}


def _worse(one: Worst, other: Worst) -> Worst:
    both = zip(one, other, (max, min, min), strict=True)
    return tuple(b if a is None else a if b is None else worse(a, b) for a, b, worse in both)


def _known_rows_judged(requirement: Dominance, worst: Worst, linked: str, ctx: AuditContext) -> Iterator[Measured]:
    worst_by_rule = dict(zip(RULES, worst, strict=True))
    for rule, bound in bounds(requirement).items():
        value = worst_by_rule[rule]
        if value is None or ctx.people is None:
            continue
        figure, at_most = Figure(value, UNITS[rule]), rule == "share"
        what = f"totals of `{requirement.attribute}` with a {rule}"
        text = known_sentence(what, figure, bound, ctx.people, at_most=at_most) + linked
        yield Measured(requirement.id, f"{requirement.id}.{KNOWN}{rule}", figure, bound, at_most, text)


# The second route to dominance: numbers are read, ranked and added up in SQL, by integers of 128 bits.


_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_READ = f"CASE WHEN regexp_full_match(s, '{_NUMBER}') THEN abs(TRY_CAST(s AS DOUBLE)) END"
_PARTS = f"greatest(floor(x / MAX(x) OVER (PARTITION BY id) * {UNIT!r}::DOUBLE), 1.0)"
_WHOLE = f"CAST(CAST({_PARTS} AS BIGINT) AS HUGEINT)"
_COLUMNS = 5


def side_sql(
    requirement: Dominance, looked: ReadRows, by: RevealingColumns, ctx: AuditContext, sql: Sql
) -> DominanceGroups:
    """Group and measure again. Raises UnmeasuredError where these null semantics have no crowds."""
    query: ClassQuery
    if ctx.people is None:
        query = ClassQuery.of_rows(sql, looked.rows, by, looked.reading, ctx.nulls, values_known=False)
    else:
        query = PeopleQuery.of_people(sql, looked.rows, by, looked.reading, ctx.nulls, ctx.people, values_known=False)
    measures = np.array(query.ask(f"{_each(requirement, query)} ORDER BY id"), dtype=np.float64).reshape(-1, _COLUMNS)
    share, margin, contributors, own, _ = measures.T
    each = Concentrations(share, margin, _to_integers(contributors))
    return DominanceGroups(looked.reading, each, _to_integers(own), 0)


def worst_known_sql(requirement: Dominance, query: KnownQuery) -> tuple[float | int | None, ...]:
    """Return the largest share, the least margin and the fewest contributors of all groups that have a total."""
    text = f"""
        SELECT MAX(share), MIN(margin), MIN(contributors) FROM ({_each(requirement, query)})
        WHERE contributors > 0"""  # noqa: S608  # our own query
    lines = [line for line in query.of_groups(text) if line[2] is not None]
    if not lines:
        return None, None, None
    share, margin, contributors = zip(*lines, strict=True)
    return max(share), min(margin), int(min(contributors))


def _each(requirement: Dominance, query: ClassQuery) -> str:
    """Return a SELECT of share, margin, contributors and rows of every class."""
    n, q = requirement.n, float(requirement.q)
    return f"""
        WITH {_BY_PEOPLE if isinstance(query, PeopleQuery) else _BY_ROWS},
        ranked_numbers AS (
            SELECT id, n, COALESCE(SUM(n) OVER before, 0) AS larger,
                   {_WHOLE} AS whole
            FROM distinct_numbers
            WINDOW before AS (PARTITION BY id ORDER BY x DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
        totals AS (
            SELECT id, SUM(whole * n) AS total, SUM(n) AS contributors,
                   SUM(whole * greatest(0, least(n, {n} - larger))) AS top,
                   SUM(whole * (n - greatest(0, least(n, 2 - larger)))) AS rest
            FROM ranked_numbers GROUP BY id)
        SELECT COALESCE({_double("top")} / {_double("total")}, 0.0) AS share,
               COALESCE({q!r}::DOUBLE * ({_double("rest")} / {UNIT!r}::DOUBLE), 'Infinity'::DOUBLE) AS margin,
               COALESCE(contributors, 0) AS contributors, own, id
        FROM sizes LEFT JOIN totals USING (id)"""  # noqa: S608  # our own names and numbers


def _double(integer: str) -> str:
    """Return an integer of 128 bits as a double, rounded as the first route rounds."""
    high = f"CAST(CAST({integer} // {HIGH} AS BIGINT) AS DOUBLE)"
    return f"({high} * {float(HIGH)!r}::DOUBLE + CAST(CAST({integer} % {HIGH} AS BIGINT) AS DOUBLE))"


_BY_ROWS = f"""
        read AS (SELECT id, {_READ} AS x, CAST(n AS BIGINT) AS n FROM cells),
        distinct_numbers AS (
            SELECT id, x, SUM(n) AS n FROM read WHERE x > 0 AND isfinite(x) AND n > 0 GROUP BY id, x)"""  # noqa: S608  # our own names
_BY_PEOPLE = f"""
        read AS (SELECT id, p, {_READ} AS x, CAST(n AS BIGINT) AS n FROM held),
        parts AS (SELECT id, p, n, {_WHOLE} AS whole FROM read WHERE x > 0 AND isfinite(x) AND n > 0),
        contributions AS (
            SELECT id, {_double("sum")} AS x
            FROM (SELECT id, p, SUM(whole * n) AS sum FROM parts GROUP BY id, p)),
        distinct_numbers AS (SELECT id, x, COUNT(*) AS n FROM contributions GROUP BY id, x)"""  # noqa: S608  # as above


def _to_integers(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.rint(numbers).astype(np.int64)


# What dominance means, in a sentence for each rule.


NO_ROW = "There is no row to measure, so nothing can be said of it."


def sentence(requirement: Dominance, rule: str, value: float, by: RevealingColumns) -> str:
    """Return what one rule found in the worst group."""
    total = f"a total of `{requirement.attribute}` {_where(by)}"
    if rule == "share":
        who = "largest contributor has" if requirement.n == 1 else f"{requirement.n} largest contributors have together"
        return f"The {who} at most {value:.1%} of {total}; at most {requirement.share or 0:.1%} is allowed."
    if rule == "margin":
        known = "" if requirement.q == 100 else f", where all are known to within {requirement.q:g} % beforehand"
        return (
            f"The second largest contributor to {total} can be sure of the largest to within {value:.4g} %{known};"
            f" {requirement.p:g} % or more is required."
        )
    return f"At least {counted(int(value), 'contributor')} are behind {total}; {requirement.contributors} are required."


def beyond(figures: dict[str, float | int | None]) -> str:
    """Return how many groups break a rule; nothing of none."""
    groups, rows = int(figures["groups_beyond"] or 0), int(figures["rows_beyond"] or 0)
    if not groups:
        return ""
    verb = "breaks" if groups == 1 else "break"
    return f" {counted(groups, 'group')} of {int(figures['groups'] or 0):,} {verb} a rule, with {counted(rows, 'row')}."


def no_total(requirement: Dominance) -> str:
    """Return the text for a requirement that holds because there is no total."""
    return f"No group has a number of `{requirement.attribute}` other than 0, so no total reveals anybody's."


def _where(by: RevealingColumns) -> str:
    return f"over those with equal {listed(by.every)}" if by.every else "over the whole release"


_BARS = 10


def pictures(requirement: Dominance, side: DominanceGroups) -> Iterator[Chart]:
    """Yield how many groups have which share; none where no group has a total."""
    share = side.each.share[side.each.some]
    if not len(share):
        return
    place = np.clip((share * _BARS).astype(np.int64), 0, _BARS - 1)
    who = "largest contributor" if requirement.n == 1 else f"{requirement.n} largest contributors"
    at = "" if requirement.share is None else f"At most {requirement.share:.1%} is allowed. "
    yield Chart(
        id=f"{requirement.id}.by_share",
        title=f"Groups by the share of the {who} in the total of `{requirement.attribute}`",
        kind="bars",
        x=tuple(f"{i / _BARS:.0%} to {(i + 1) / _BARS:.0%}" for i in range(_BARS)),
        series=(FigureSeries("groups", tuple(int(c) for c in np.bincount(place, minlength=_BARS))),),
        x_label="share of the total",
        y_label="groups",
        note=f"{at}Groups whose total is 0 are not shown.",
        group="dominance",
    )


@dataclass(frozen=True, slots=True, eq=False)
class UndominatedClass(OfHoldings):
    """No total of a class tells one contributor too closely.

    Two classes that keep it keep it together, since absolute values do not cancel. For (n, k): the n largest of a union
    are at most the n largest of both parts. For p%: let the largest be of the first part, a_1 >= b_1. What is left of
    the union without its two largest holds what is left of the first part without a_1 and a_2, and so is at least
    p a_1. A union has no fewer contributors than either. A class whose total is 0 changes nothing. It is the same where
    a person has numbers in both: for p%, let a and b be the largest of the union; without these two each part has at
    least p times its own largest left, so both have p times what a has in them, together p a.

    A part of a class that breaks it may keep it: without the one who dominates, the others do not.
    """

    attribute: int
    requirement: Dominance
    numbers: Floats

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Measure each class."""
        return ~broken(self.requirement, self._each(grouping), SLACK)

    def keeps_people(self, entries: GroupEntries, classes: int) -> Bools:
        """Measure each class, with the sum of a person's numbers as one contribution."""
        own = self.requirement
        return ~broken(own, of_people(entries, self.numbers, classes, own.n, own.q), SLACK)

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """One record at least: if all parts kept it, so would the class.

        Where there are too few contributors, there are too few in each part: all of them are lost.
        """
        each = self._each(grouping)
        few = each.some & (each.contributors < (self.requirement.contributors or 0))
        records = np.where(few, each.contributors, broken(self.requirement, each, SLACK))
        return np.asarray(records / np.maximum(grouping.sizes, 1), dtype=np.float64)

    def _each(self, grouping: RowGrouping) -> Concentrations:
        own = self.requirement
        return concentrations(grouping.cells[self.attribute], self.numbers, own.n, own.q)


def models(requirement: Dominance, columns: SensitiveColumns) -> list[ClassModel]:
    """Return what a class must keep. Raises PluginError where values are no numbers."""
    name = requirement.attribute
    at = columns.place(name)
    try:
        numbers = numbers_of(columns.counts.names(name), name, strict=True)
    except UnnumberedError as fault:
        help_text = "take the step that makes labels of the numbers after the one that makes classes"
        raise PluginError(Diagnostic("PPF807", fault.text, requirement.span, help=help_text)) from None
    return [UndominatedClass(at, requirement, numbers)]
