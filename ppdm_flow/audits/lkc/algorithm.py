"""LKC-privacy, measured: every combination of at most L quasi-identifiers (Mohammed, Fung, Hung, Lee, KDD 2009).

At least K rows fit whatever is known, and of those that fit a share of at most C has one of the sensitive values that
are named of an attribute: these are counted together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ppdm_flow.audits.classes.faults import RandomizedError, require_true_values
from ppdm_flow.audits.classes.query import Query
from ppdm_flow.audits.classes.wording import known_by, left_out, treatment, unmeasured
from ppdm_flow.audits.lkc.picture import pictures
from ppdm_flow.audits.lkc.survey import Survey, Target, by_column, chosen, survey
from ppdm_flow.audits.release import carriers, listed, released
from ppdm_flow.core.anonymity import LKC
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.core.roles import Nulls
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
            columns, targets = _columns(requirement, candidate, ctx)
            needed = dict.fromkeys((*columns, *(t.column for t in targets)))
            found = survey(candidate.counts(tuple(needed)), columns, targets, requirement.l, ctx.nulls)
            own = {
                f"{requirement.id}.k": Figure(found.k, "rows"),
                f"{requirement.id}.confidence": Figure(found.confidence, "probability"),
                f"{requirement.id}.combinations": Figure(found.combinations, "combinations"),
                f"{requirement.id}.rows_left_out": Figure(found.left_out, "rows"),
            }
            figures |= own
            judged = _measured(requirement, found, targets, own, treatment(ctx.nulls, found.left_out))
            try:
                for target in targets:
                    require_true_values(target.column, ctx)
            except RandomizedError as fault:
                judged[-1] = replace(judged[-1], sentence=fault.text, verifiable=False)
                findings.append(unmeasured(requirement.id, fault))
            measured.extend(judged)
            findings.extend(left_out(requirement.id, found.left_out))
            charts.extend(pictures(requirement, found, true=bool(targets) and judged[-1].verifiable))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again in SQL, a query for each combination."""
        del original
        found: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return found
        for requirement in _own(ctx):
            columns, targets = _columns(requirement, candidate, ctx)
            sizes, shares = [], [0.0]
            for known in chosen(columns, requirement.l, ctx.nulls):
                query = Query.of_file(ctx.sql, candidate.schema, known, None, ctx.nulls)
                sizes.append(query.worst("SELECT id, size AS v FROM sizes", 0.0, at_most=False)["worst"])
                shares.extend(_share(ctx.sql, candidate, known, t, ctx.nulls) for t in targets)
            found[f"{requirement.id}.k"] = int(min(size or 0 for size in sizes))
            found[f"{requirement.id}.confidence"] = max(shares)
        return found


def _own(ctx: AuditContext) -> list[LKC]:
    return [r for r in ctx.requirements if isinstance(r, LKC)]


def _columns(requirement: LKC, candidate: DataView, ctx: AuditContext) -> tuple[tuple[str, ...], tuple[Target, ...]]:
    names = dict.fromkeys(attribute for attribute, _ in requirement.sensitive)
    targets = by_column(requirement.sensitive, {n: carriers(n, candidate, ctx) for n in names})
    secret = {t.column for t in targets}
    return tuple(c for c in released(requirement.attributes, candidate, ctx) if c not in secret), targets


def _share(sql: Sql, candidate: DataView, known: tuple[str, ...], target: Target, nulls: Nulls) -> float:
    each = (
        "SELECT id, COALESCE(SUM(n) FILTER (LIST_CONTAINS(?::VARCHAR[], s)), 0) / MAX(size) AS v"
        " FROM cells JOIN sizes USING (id) GROUP BY id"
    )
    query = Query.of_file(sql, candidate.schema, known, target.column, nulls)
    worst = query.worst(each, 1.0, at_most=True, parameters=[list(target.values)])["worst"]
    return float(worst or 0.0)


def _measured(
    requirement: LKC, found: Survey, targets: tuple[Target, ...], figures: Mapping[str, Figure], end: str
) -> list[Measured]:
    name = f"{requirement.id}.k"
    if found.k == 0:
        text = "There is no row to measure, so nothing can be said of it."
    else:
        text = (
            f"Whoever knows at most {counted(requirement.l, 'quasi-identifier')} of somebody finds at least"
            f" {counted(found.k, 'row')} that fit ({_by(found.fewest)}); {requirement.k:,} are required.{end}"
        )
    results = [Measured(requirement.id, name, figures[name], float(requirement.k), at_most=False, sentence=text)]
    if requirement.c is not None:
        name = f"{requirement.id}.confidence"
        what = listed(dict.fromkeys(t.column for t in targets))
        text = (
            f"{known_by(found.surest)} can infer one of the sensitive values of {what} with a confidence of at most"
            f" {found.confidence:.4g}, and no other combination of as few tells more; at most {requirement.c:g} is"
            f" allowed.{end}"
            if targets
            else "None of the sensitive attributes is released, so nothing can be inferred of them."
        )
        results.append(Measured(requirement.id, name, figures[name], requirement.c, at_most=True, sentence=text))
    return results


def _by(columns: tuple[str, ...]) -> str:
    return f"fewest by {listed(columns)}" if columns else "no quasi-identifier is released"
