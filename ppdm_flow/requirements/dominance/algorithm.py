"""Dominance of a release: whether a total of some group tells one contributor too closely.

Three rules of statistical offices on the absolute values in each group: (n, k)-dominance, the p% rule with its form for
prior knowledge (pq), and a least number of contributors (Hundepool et al., Statistical Disclosure Control, 2012,
section 4.2). The numbers that the released rows had in the source are added up, and those that changed columns show;
each rule is judged by the worse of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.mining.classes import other_releases
from ppdm_flow.mining.classes.measures import PREFIX
from ppdm_flow.mining.classes.wording import as_they_are, left_out, treatment, unmeasured, unreleased
from ppdm_flow.mining.exposure.columns import RevealingColumns, carriers, made_of
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.rows import CountedRows, ReleasedRows
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.requirements.dominance.figures import RULES, UNITS, bounds, broken, summary
from ppdm_flow.requirements.dominance.known_rows import known_totals, known_totals_sql
from ppdm_flow.requirements.dominance.picture import pictures
from ppdm_flow.requirements.dominance.query import side_sql
from ppdm_flow.requirements.dominance.reading import DominanceGroups, looked_at, revealing, side
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.requirements.dominance.sentences import NO_ROW, beyond, no_total, sentence
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

_OTHERS = {"groups": "groups", "groups_with_total": "groups", "groups_beyond": "groups", "rows_beyond": "rows"}
Values = dict[str, float | int | None]


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
        found: Values = {}
        for requirement in _own(ctx):
            carrying = carriers(requirement.attribute, candidate, ctx)
            found[f"{requirement.id}.columns"] = len(carrying)
            if not carrying:
                continue
            by = revealing(requirement, candidate, ctx)
            own = _figures_sql(requirement, ReleasedRows(candidate, ctx), by, candidate, ctx)
            known = _known_sql(requirement, by, candidate, ctx) if own else {}
            own = {} if known is None else {**own, **known}
            found |= {f"{requirement.id}.{name}": value for name, value in own.items()}
            rows = other_releases.rows(candidate, ctx) if own else None
            if rows is not None:
                others = _figures_sql(requirement, rows, by, candidate, ctx)
                found |= {f"{requirement.id}.{PREFIX}{name}": others[name] for name in (*RULES, "groups_beyond")}
        return found


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
    found = []
    for earlier, rows in other_releases.one_by_one(candidate, ctx):
        sides = _sides(requirement, rows, by, candidate, ctx)
        if any(broken(requirement, s.each).any() for s in sides):
            found.append(earlier.name)
    return found
