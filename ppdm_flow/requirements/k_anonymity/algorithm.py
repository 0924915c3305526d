"""The measured k of a release: the size of its smallest equivalence class.

A release is k-anonymous if every combination of quasi-identifier values occurs in at least k rows (Samarati 2001,
definition 2.2). Suppressed cells are a category of their own: that is what a reader of the file sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.classes.wording import as_they_are, of_originals, unmeasured, unrepeated
from ppdm_flow.mining.exposure.columns import RevealingColumns, columns, sensitive_attributes
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.joint_sizes import beside_all, beside_all_sql, findings_of_unaccounted
from ppdm_flow.mining.exposure.repeated import Repetitions, repeated
from ppdm_flow.mining.exposure.rows import ReleasedRows, SharedCounts
from ppdm_flow.mining.exposure.sizes import CombinationSizes, classes, crowds, crowds_sql
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.mining.people.known_query import require_linkable_sql
from ppdm_flow.mining.people.sizes import people_in_classes, people_in_classes_sql
from ppdm_flow.requirements.k_anonymity.known_rows import known_rows, known_rows_sql
from ppdm_flow.requirements.k_anonymity.query import RowClassQuery
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_anonymity.sentences import left_out, sentence
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING

_PEOPLE = ("repeated", "rows_of_nobody")


class KAnonymityAudit:
    """Counts the combinations of the released quasi-identifiers; no quasi-identifier released is one class."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return k, the number of classes and the rows in small ones, for each requirement."""
        del original
        figures: dict[str, Figure] = {}
        measured = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for requirement in _own(ctx):
            released_columns = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            try:
                if ctx.people is not None:
                    require_people(ctx.people, ctx)
                originals = repeated(released_columns.known, sensitive_attributes(ctx), (), candidate, ctx)
                classes_by_nulls = _classes(released_columns, originals, candidate, ctx)
                further, pictures = known_rows(requirement, released_columns, candidate, ctx)
            except UnmeasuredError as fault:
                figure = Figure(None, "rows", note=fault.text)
                name, bound = f"{requirement.id}.k", float(requirement.k)
                measured.append(Measured(requirement.id, name, figure, bound, False, fault.text, verifiable=False))
                findings.append(unmeasured(requirement.id, fault))
                continue
            own = _figures(requirement, classes_by_nulls, ctx) | _originals(requirement, released_columns, originals)
            figures |= own
            people = [int(own[f"{requirement.id}.{n}"].value or 0) for n in _PEOPLE if originals is not None]
            if people and not people[0] and candidate.row_count:
                measured.append(unrepeated(requirement.id))
                continue
            measured.append(
                Measured(
                    requirement=requirement.id,
                    metric=f"{requirement.id}.k",
                    figure=own[f"{requirement.id}.k"],
                    bound=float(requirement.k),
                    at_most=False,
                    sentence=sentence(requirement, released_columns, classes_by_nulls[ctx.nulls], ctx)
                    + of_originals(*people),
                )
            )
            charts.extend(pictures)
            beside = beside_all(requirement.id, "together_k", requirement.k, requirement.attributes, ctx)
            findings.extend(findings_of_unaccounted(beside))
            further += beside
            figures |= {m.metric: m.figure for m in further}
            measured.extend(further)
            findings.extend(left_out(requirement, classes_by_nulls[ctx.nulls]))
            findings.extend(
                as_they_are(requirement.id, requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            )
        return AuditOutcome(figures=figures, measured=tuple(measured), findings=tuple(findings), charts=tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again, in SQL over the released file."""
        del original
        figures: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return figures
        for requirement in _own(ctx):
            together = f"{requirement.id}.together_k"
            released_columns = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            if released_columns.mixed or ctx.people is not None:
                if own := _figures_sql(requirement, released_columns, candidate, ctx, ctx.sql):
                    figures |= own | beside_all_sql(together, requirement.attributes, ctx)
                continue
            try:
                originals = repeated(released_columns.known, sensitive_attributes(ctx), (), candidate, ctx)
            except UnmeasuredError:
                continue
            if originals is not None:
                figures[f"{requirement.id}.repeated"] = originals.again(released_columns.every)
            figures |= beside_all_sql(together, requirement.attributes, ctx)
            query = RowClassQuery(ctx.sql, originals or ReleasedRows(candidate, ctx), released_columns.every)
            for name, value in query.figures(requirement.k, ctx.nulls).items():
                figures[f"{requirement.id}.{name}"] = value
        return figures


def _own(ctx: AuditContext) -> list[KAnonymity]:
    return [r for r in ctx.requirements if isinstance(r, KAnonymity)]


def _classes(
    columns: RevealingColumns, originals: Repetitions | None, candidate: DataView, ctx: AuditContext
) -> dict[Nulls, CombinationSizes]:
    """Return the classes by each of the null semantics, or the crowds, which there are not for wildcards.

    Of generated rows these are the classes of the ``originals`` that they repeat.
    """
    if ctx.people is not None:
        every = ReleasedRows(candidate, ctx)
        measurable = [n for n in Nulls if not columns.mixed or n is not Nulls.WILDCARD or n is ctx.nulls]
        if not (candidate.counts(columns.every).codes == MISSING).any():
            judged = people_in_classes(columns, every, ctx.nulls, ctx.people)
            return dict.fromkeys(measurable, judged)
        return {nulls: people_in_classes(columns, every, nulls, ctx.people) for nulls in measurable}
    if originals is not None or not columns.mixed:
        counts = candidate.counts(columns.grouping) if originals is None else originals.counts(columns.every)
        return {nulls: classes(counts, nulls) for nulls in Nulls}
    rows = SharedCounts(ReleasedRows(candidate, ctx), columns.every, columns.known)
    by_nulls = {ctx.nulls: crowds(columns, rows, ctx.nulls)}
    return by_nulls | {nulls: crowds(columns, rows, nulls) for nulls in Nulls if nulls is not Nulls.WILDCARD}


def _originals(requirement: KAnonymity, columns: RevealingColumns, originals: Repetitions | None) -> dict[str, Figure]:
    """Return how many original rows generated ones repeat, and how many of these repeat none."""
    if originals is None:
        return {}
    rows = originals.counts(columns.every).total, originals.rows_repeating_no_original(columns.every)
    return {f"{requirement.id}.{name}": Figure(n, "rows") for name, n in zip(_PEOPLE, rows, strict=True)}


def _figures_sql(
    requirement: KAnonymity, columns: RevealingColumns, candidate: DataView, ctx: AuditContext, sql: Sql
) -> dict[str, float | int | None]:
    """Return the figures of crowds by the second route; none where there are none."""
    try:
        if ctx.people is not None:
            require_people(ctx.people, ctx)
            groups = people_in_classes_sql(columns, ReleasedRows(candidate, ctx), sql, ctx.nulls, ctx.people)
            require_linkable_sql(sql, columns, candidate, ctx)
            known = known_rows_sql(columns, candidate, ctx, sql)
        else:
            shared = SharedCounts(ReleasedRows(candidate, ctx), columns.every, columns.known)
            groups, known = crowds_sql(columns, shared, sql, ctx.nulls), {}
    except UnmeasuredError:
        return {}
    figures = {
        "k": groups.k,
        "classes": len(groups.sizes),
        "rows_below": groups.rows_below(requirement.k),
        "uniques": groups.uniques,
        **known,
    }
    return {f"{requirement.id}.{name}": value for name, value in figures.items()}


def _figures(
    requirement: KAnonymity, classes_by_nulls: Mapping[Nulls, CombinationSizes], ctx: AuditContext
) -> dict[str, Figure]:
    judged = classes_by_nulls[ctx.nulls]
    sizes = {"k": judged.k, **{f"k_{n}": c.k for n, c in classes_by_nulls.items()}}
    values = {
        "rows_below": judged.rows_below(requirement.k),
        "uniques": judged.uniques,
        "rows_left_out": judged.left_out,
    }
    unit = "rows" if ctx.people is None else "people"
    figures = {f"{requirement.id}.{name}": Figure(value, unit) for name, value in sizes.items()}
    figures |= {f"{requirement.id}.{name}": Figure(value, "rows") for name, value in values.items()}
    figures[f"{requirement.id}.classes"] = Figure(len(judged.sizes), "classes")
    return figures
