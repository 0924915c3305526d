"""The size of the smallest group of people that this and all earlier releases leave together.

A person known to be in class A of one release and in class B of another is one of the people in both classes. Each
release may be k-anonymous while the intersection holds a single person (Ganta, Kasiviswanathan, Smith, KDD 2008). A
person who is in only one of two releases is found in their difference. The adversary is assumed to hold all releases of
the ledger, including those made for others. For one person, the adversary knows the class in each release that has the
person, and which releases do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.releases.successive import (
    classes,
    different_members,
    numbered_combinations,
    relation,
    why_unknown,
)
from ppdm_flow.requirements.cumulative_k.requirement import NO_EARLIER_RELEASE, CumulativeK, CumulativeKParams
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.history import Membership, ReleaseHistory
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.numbering import Codes, joined, numbered


class CumulativeKAudit:
    """Groups people by their classes in all releases."""

    def __init__(self, params: CumulativeKParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest group, present or gone, and the people in groups that are too small."""
        del original, candidate
        all_figures: dict[str, Figure] = {}
        measured, findings = [], []
        if (least := _required_k(self.params, ctx)) is not None and ctx.history is not None and ctx.history.own:
            joined = groups(ctx.history.own, different_members(ctx.history))
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
            own, joined = ctx.history.own, groups(ctx.history.own, different_members(ctx.history))
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
        own, others, sql = ctx.history.own, different_members(ctx.history), ctx.sql
        if (least := _required_k(self.params, ctx)) is not None:
            return figures(sql, own, others, least)
        return {f"{r.id}.{n}": v for r in _own(ctx) for n, v in figures(sql, own, others, r.k).items()}


def _required_k(params: CumulativeKParams, ctx: AuditContext) -> int | None:
    """Return the size below which groups are reported, where nothing is required and the other releases are known."""
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


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeGroups:
    """Sizes of the groups, in people: ``present`` in the new release, and ``gone`` from it.

    ``gone`` are people whom the earlier releases do not tell from some who are still present: who compares the two
    finds them by difference. People whose earlier groups the new release does not touch are not among them.
    """

    present: Codes
    gone: Codes

    @property
    def k(self) -> int:
        """The smallest size; 0 without any group."""
        return min((int(sizes.min()) for sizes in (self.present, self.gone) if len(sizes)), default=0)

    def below(self, k: int) -> int:
        """Return the number of people in groups of fewer than ``k``."""
        return int(self.present[self.present < k].sum() + self.gone[self.gone < k].sum())


def groups(own: Membership, earlier: Sequence[Membership]) -> CumulativeGroups:
    """Group people by their class in every earlier release and in this one; absence is a class too."""
    (here, *others), everybody = numbered(own.subjects, *(m.subjects for m in earlier))
    before = numbered_combinations(len(everybody), zip(others, earlier, strict=True))
    now = classes(len(everybody), here, own)
    group = joined(before, now)
    sizes = np.bincount(group)
    some = np.zeros(len(sizes), dtype=np.int64)
    some[group] = np.arange(len(group))
    there = now[some] > 0
    touched = np.zeros(int(before.max(initial=0)) + 1, dtype=bool)
    touched[before[now > 0]] = True
    return CumulativeGroups(sizes[there], sizes[~there & touched[before[some]]])


# What the smallest common group means, in a sentence.


def sentence(k: int, joined: CumulativeGroups, colliding: Sequence[str], history: ReleaseHistory) -> str:
    """Return the sentence for the report."""
    if not history.earlier:
        return f"{NO_EARLIER_RELEASE}; the smallest group of this one has {_people(joined.k)}."
    releases = f"this release and {counted(len(history.earlier), 'other')}"
    if joined.k >= k:
        return (
            f"A reader of {releases} still cannot tell anybody from fewer than {joined.k - 1:,} others;"
            f" groups of {k:,} are required."
        )
    gone = int(joined.gone[joined.gone < k].sum())
    hidden = f", {gone:,} of them because they are missing from this release" if gone else ""
    by = "; ".join(colliding) if colliding else "only all of them together"
    return (
        f"A reader of {releases} narrows {_people(joined.below(k))} down to groups as small as"
        f" {joined.k:,} where {k:,} are required{hidden}. It collides with: {by}."
    )


def warning(k: int, joined: CumulativeGroups, history: ReleaseHistory) -> str:
    """Return a warning that the releases of a run leave too few people together; empty where all groups have ``k``."""
    if joined.k >= k:
        return ""
    others = "; ".join(e.name for e in history.earlier if e.members is not None)
    return (
        f"A reader of this release and others of the run ({others}) narrows {_people(joined.below(k))} down to groups"
        f" as small as {joined.k:,}, below k = {k:,}. The policy does not ask for `cumulative_k`, so it withholds"
        " nothing."
    )


def _people(number: int) -> str:
    return f"{number:,} {'person' if number == 1 else 'people'}"


_GROUPS = """
    WITH number AS (SELECT cls, row_number() OVER () AS id FROM member GROUP BY cls),
    told AS (
        SELECT person, string_agg(release || ':' || id, ',' ORDER BY release) FILTER (release > 0) AS was,
               ANY_VALUE(id) FILTER (release = 0) AS now
        FROM member JOIN number USING (cls) GROUP BY person),
    cell AS (SELECT was, now, COUNT(*) AS n FROM told GROUP BY was, now),
    touched AS (SELECT DISTINCT was FROM cell WHERE was IS NOT NULL AND now IS NOT NULL),
    judged AS (SELECT * FROM cell WHERE now IS NOT NULL OR was IN (SELECT was FROM touched))
    SELECT COALESCE(MIN(n), 0), MIN(n) FILTER (now IS NOT NULL), MIN(n) FILTER (now IS NULL),
           COALESCE(SUM(n) FILTER (n < ?), 0), COUNT(*)
    FROM judged"""


def figures(sql: Sql, own: Membership, earlier: Sequence[Membership], k: int) -> Mapping[str, int | None]:
    """Return the audit's figures, computed by joins of people, and from the released file itself."""
    row = sql.rows(_GROUPS, [k], {"member": relation((own, *earlier))})[0]
    group_figures = dict(zip(("k", "k_present", "k_gone", "people_below", "groups"), row, strict=True))
    columns = ", ".join(quoted(c) for c in own.columns) or "()"
    file = f"SELECT COUNT(*), COALESCE(SUM(n), 0) FROM (SELECT COUNT(*) AS n FROM candidate GROUP BY {columns})"  # noqa: S608  # quoted
    cells, rows = sql.rows(file)[0]
    counted = {**group_figures, "rows": rows, "cells": cells}
    return {name: None if value is None else int(value) for name, value in counted.items()}
