"""The measured k of a release: the size of its smallest equivalence class.

A release is k-anonymous if every combination of quasi-identifier values occurs in at least k rows (Samarati 2001,
definition 2.2). Suppressed cells are a category of their own: that is what a reader of the file sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.classes.wording import as_they_are, of_originals, unmeasured, unrepeated
from ppdm_flow.mining.exposure.columns import Columns, columns, sensitive_attributes
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.lacking import lacking, lacking_again
from ppdm_flow.mining.exposure.repeated import Repetitions, repeated
from ppdm_flow.mining.exposure.rows import ReleasedRows, SharedCounts
from ppdm_flow.mining.exposure.sizes import Classes, classes, crowds, crowds_again
from ppdm_flow.requirements.k_anonymity.query import Query
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_anonymity.sentences import left_out, sentence
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

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
        for requirement in _own(ctx):
            told = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            try:
                originals = repeated(told.known, sensitive_attributes(ctx), (), candidate, ctx)
                found = _classes(told, originals, candidate, ctx)
            except UnmeasuredError as fault:
                figure = Figure(None, "rows", note=fault.text)
                name, bound = f"{requirement.id}.k", float(requirement.k)
                measured.append(Measured(requirement.id, name, figure, bound, False, fault.text, verifiable=False))
                findings.append(unmeasured(requirement.id, fault))
                continue
            own = _figures(requirement, found, ctx.nulls) | _people(requirement, told, originals)
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
                    sentence=sentence(requirement, told, found[ctx.nulls], ctx) + of_originals(*people),
                )
            )
            further = lacking(requirement.id, "together_dropped", requirement.k, candidate, ctx)
            figures |= {m.metric: m.figure for m in further}
            measured.extend(further)
            findings.extend(left_out(requirement, found[ctx.nulls]))
            findings.extend(
                as_they_are(requirement.id, requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            )
        return AuditOutcome(figures=figures, measured=tuple(measured), findings=tuple(findings))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again, in SQL over the released file."""
        del original
        found: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return found
        for requirement in _own(ctx):
            found |= lacking_again(f"{requirement.id}.together_dropped", candidate, ctx)
            told = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            if told.mixed:
                found |= _again(requirement, told, candidate, ctx, ctx.sql)
                continue
            try:
                originals = repeated(told.known, sensitive_attributes(ctx), (), candidate, ctx)
            except UnmeasuredError:
                continue
            if originals is not None:
                found[f"{requirement.id}.repeated"] = originals.again(told.every)
            query = Query(ctx.sql, originals or ReleasedRows(candidate, ctx), told.every)
            for name, value in query.figures(requirement.k, ctx.nulls).items():
                found[f"{requirement.id}.{name}"] = value
        return found


def _own(ctx: AuditContext) -> list[KAnonymity]:
    return [r for r in ctx.requirements if isinstance(r, KAnonymity)]


def _classes(
    told: Columns, originals: Repetitions | None, candidate: DataView, ctx: AuditContext
) -> dict[Nulls, Classes]:
    """Return the classes by each of the null semantics, or the crowds, which there are not for wildcards.

    Of generated rows these are the classes of the ``originals`` that they repeat.
    """
    if originals is not None or not told.mixed:
        counts = candidate.counts(told.grouping) if originals is None else originals.counts(told.every)
        return {nulls: classes(counts, nulls) for nulls in Nulls}
    rows = SharedCounts(ReleasedRows(candidate, ctx), told.every, told.known)
    found = {ctx.nulls: crowds(told, rows, ctx.nulls)}
    return found | {nulls: crowds(told, rows, nulls) for nulls in Nulls if nulls is not Nulls.WILDCARD}


def _people(requirement: KAnonymity, told: Columns, originals: Repetitions | None) -> dict[str, Figure]:
    """Return how many original rows generated ones repeat, and how many of these repeat none."""
    if originals is None:
        return {}
    rows = originals.counts(told.every).total, originals.rows_repeating_no_original(told.every)
    return {f"{requirement.id}.{name}": Figure(n, "rows") for name, n in zip(_PEOPLE, rows, strict=True)}


def _again(
    requirement: KAnonymity, told: Columns, candidate: DataView, ctx: AuditContext, sql: Sql
) -> dict[str, float | int | None]:
    """Return the figures of crowds by the second route; none where there are none."""
    rows = SharedCounts(ReleasedRows(candidate, ctx), told.every, told.known)
    try:
        found = crowds_again(told, rows, sql, ctx.nulls)
    except UnmeasuredError:
        return {}
    figures = {
        "k": found.k,
        "classes": len(found.sizes),
        "rows_below": found.rows_below(requirement.k),
        "uniques": found.uniques,
    }
    return {f"{requirement.id}.{name}": value for name, value in figures.items()}


def _figures(requirement: KAnonymity, found: Mapping[Nulls, Classes], nulls: Nulls) -> dict[str, Figure]:
    judged = found[nulls]
    values = {
        "k": judged.k,
        **{f"k_{n}": c.k for n, c in found.items()},
        "rows_below": judged.rows_below(requirement.k),
        "uniques": judged.uniques,
        "rows_left_out": judged.left_out,
    }
    figures = {f"{requirement.id}.{name}": Figure(value, "rows") for name, value in values.items()}
    figures[f"{requirement.id}.classes"] = Figure(len(judged.sizes), "classes")
    return figures
