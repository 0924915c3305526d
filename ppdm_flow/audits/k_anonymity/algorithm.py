"""The measured k of a release: the size of its smallest equivalence class.

A release is k-anonymous if every combination of quasi-identifier values occurs in at least k rows (Samarati 2001,
definition 2.2). Suppressed cells are a category of their own: that is what a reader of the file sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.audits.k_anonymity.classes import Classes, classes
from ppdm_flow.audits.k_anonymity.query import Query
from ppdm_flow.audits.k_anonymity.wording import left_out, sentence
from ppdm_flow.audits.release import released
from ppdm_flow.core.requirements import KAnonymity
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


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
            columns = released(requirement.attributes, candidate, ctx)
            counts = candidate.counts(columns)
            found = {nulls: classes(counts, nulls) for nulls in Nulls}
            own = _figures(requirement, found, ctx.nulls)
            figures |= own
            measured.append(
                Measured(
                    requirement=requirement.id,
                    metric=f"{requirement.id}.k",
                    figure=own[f"{requirement.id}.k"],
                    bound=float(requirement.k),
                    at_most=False,
                    sentence=sentence(requirement, columns, found[ctx.nulls], ctx.nulls),
                )
            )
            findings.extend(left_out(requirement, found[ctx.nulls]))
        return AuditOutcome(figures=figures, measured=tuple(measured), findings=tuple(findings))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again, in SQL over the released file."""
        del original
        found: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return found
        for requirement in _own(ctx):
            query = Query(ctx.sql, candidate.schema, released(requirement.attributes, candidate, ctx))
            for name, value in query.figures(requirement.k, ctx.nulls).items():
                found[f"{requirement.id}.{name}"] = value
        return found


def _own(ctx: AuditContext) -> list[KAnonymity]:
    return [r for r in ctx.requirements if isinstance(r, KAnonymity)]


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
