"""The smallest group of people that this and all earlier releases leave together.

Somebody who is known to be in class A of one release and in class B of another is one of those in both. Each release
may be k-anonymous, and the intersection hold a single person (Ganta, Kasiviswanathan, Smith, KDD 2008). Who is in only
one of two releases is found in their difference. It is assumed that the attacker holds all releases of the ledger,
whoever they were made for, and knows of somebody the class in each of them, and in which of them they are not.
"""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.releases.successive import members, why_unknown
from ppdm_flow.requirements.cumulative_k.audit import CumulativeKParams
from ppdm_flow.requirements.cumulative_k.groups import CumulativeGroups, groups
from ppdm_flow.requirements.cumulative_k.query import figures
from ppdm_flow.requirements.cumulative_k.requirement import CumulativeK
from ppdm_flow.requirements.cumulative_k.sentences import sentence, warning
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.history import Membership, ReleaseHistory
from ppdm_flow.sdk.view import DataView


class CumulativeKAudit:
    """Groups people by their classes in all releases."""

    def __init__(self, params: CumulativeKParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest group, present or gone, and the people in groups that are too small."""
        del original, candidate
        all_figures: dict[str, Figure] = {}
        measured, findings = [], []
        if (least := _told_of(self.params, ctx)) is not None and ctx.history is not None and ctx.history.own:
            joined = groups(ctx.history.own, members(ctx.history))
            figures = _figures(least, ctx.history.own, joined, len(ctx.history.earlier))
            few = warning(least, joined, ctx.history)
            return AuditOutcome(
                figures, findings=(Finding("PPF845", Severity.WARNING, few, CumulativeK.kind),) if few else ()
            )
        for requirement in _own(ctx):
            if ctx.history is None or ctx.history.own is None or ctx.history.unknown:
                measured.append(_unmeasured(requirement, why_unknown(ctx.history)))
                all_figures[measured[-1].metric] = measured[-1].figure
                continue
            own, joined = ctx.history.own, groups(ctx.history.own, members(ctx.history))
            values = _figures(requirement.k, own, joined, len(ctx.history.earlier))
            figures = {f"{requirement.id}.{name}": figure for name, figure in values.items()}
            all_figures |= figures
            metric = f"{requirement.id}.k"
            with_whom = _colliding(requirement.k, own, ctx.history) if joined.k < requirement.k else []
            text = sentence(requirement.k, joined, with_whom, ctx.history)
            measured.append(Measured(requirement.id, metric, figures[metric], float(requirement.k), False, text))
            if generated := [e.name for e in ctx.history.earlier if e.generated]:
                note = f"generated rows are nobody's, so these releases are not compared: {'; '.join(generated)}"
                findings.append(Finding("PPF843", Severity.INFO, note, requirement.id))
        return AuditOutcome(figures=all_figures, measured=tuple(measured), findings=tuple(findings))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again, in SQL."""
        del original, candidate
        if ctx.sql is None or ctx.history is None or ctx.history.own is None or ctx.history.unknown:
            return {}
        own, others, sql = ctx.history.own, members(ctx.history), ctx.sql
        if (least := _told_of(self.params, ctx)) is not None:
            return figures(sql, own, others, least)
        return {f"{r.id}.{n}": v for r in _own(ctx) for n, v in figures(sql, own, others, r.k).items()}


def _told_of(params: CumulativeKParams, ctx: AuditContext) -> int | None:
    """Return the size below which groups are told of, where nothing is required and the other releases are known."""
    known = ctx.history is not None and ctx.history.own is not None and not ctx.history.unknown
    return params.k if known and not _own(ctx) else None


def _own(ctx: AuditContext) -> list[CumulativeK]:
    return [r for r in ctx.requirements if isinstance(r, CumulativeK)]


def _colliding(k: int, own: Membership, history: ReleaseHistory) -> list[str]:
    """Return the earlier releases that by themselves leave too small a group together with this one."""
    pairs = [(e.name, e.members) for e in history.earlier if e.members is not None]
    return [name for name, other in pairs if groups(own, [other]).k < k]


def _unmeasured(requirement: CumulativeK, why: str) -> Measured:
    figure = Figure(None, "people", note="nothing tells who is in all of these releases")
    bound = float(requirement.k)
    return Measured(requirement.id, f"{requirement.id}.k", figure, bound, False, why, verifiable=False)


def _figures(k: int, own: Membership, joined: CumulativeGroups, earlier: int) -> dict[str, Figure]:
    present = int(joined.present.min()) if len(joined.present) else None
    gone = int(joined.gone.min()) if len(joined.gone) else None
    return {
        "k": Figure(joined.k, "people"),
        "k_present": Figure(present, "people", note="" if present is not None else "nobody is released"),
        "k_gone": Figure(gone, "people", note="" if gone is not None else "nobody is missing from this release"),
        "people_below": Figure(joined.below(k), "people"),
        "groups": Figure(len(joined.present) + len(joined.gone), "groups"),
        "earlier": Figure(earlier, "releases"),
        "rows": Figure(own.rows, "rows"),
        "cells": Figure(own.cells, "classes"),
    }
