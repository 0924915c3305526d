"""How many earlier releases have the same people's values of attributes that are randomized now.

An operator with amplification gamma keeps an (r1, r2) bound; two independent draws of one value multiply their
likelihood ratios, up to gamma squared, and a value that was released as it is leaves nothing to hide. So a bound on
each release is none on both (Evfimievski, Gehrke, Srikant, PODS 2003, amplification).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.results import AuditOutcome, Figure, Measured
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.mining.releases.successive import relation
from ppdm_flow.requirements.first_draw.requirement import FirstDraw
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.history import EarlierRelease, ReleaseHistory
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.numbering import numbered

_SHARED = """
    SELECT COUNT(DISTINCT o.release) FROM member o JOIN member n USING (person)
    WHERE o.release > 0 AND n.release = 0"""


class FirstDrawAudit:
    """Counts earlier releases that have one of the attributes, and one of the people."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the number of such releases, for each requirement."""
        del original
        figures, measured = {}, []
        for requirement in _own(ctx):
            metric, history = f"{requirement.id}.releases", ctx.history
            if history is None:
                figure, text = Figure(None, "releases", note="only a run has the ledger"), _NO_LEDGER
            else:
                same = [e.name for e in _of(requirement, candidate, ctx, history) if _shares(history, e)]
                figure, text = Figure(len(same), "releases"), _sentence(same)
            figures[metric] = figure
            measured.append(Measured(requirement.id, metric, figure, 0.0, True, text, verifiable=history is not None))
        return AuditOutcome(figures=figures, measured=tuple(measured))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again: the people by a join in SQL."""
        del original
        if ctx.history is None:
            return {f"{r.id}.releases": None for r in _own(ctx)}
        return {f"{r.id}.releases": _joined(r, candidate, ctx, ctx.history) for r in _own(ctx)}


_NO_LEDGER = "Only a run that releases has the ledger, so this cannot be measured here."


def _own(ctx: AuditContext) -> list[FirstDraw]:
    return [r for r in ctx.requirements if isinstance(r, FirstDraw)]


def _of(
    requirement: FirstDraw, candidate: DataView, ctx: AuditContext, history: ReleaseHistory
) -> list[EarlierRelease]:
    """Return the earlier releases with one of the attributes that this release has too."""
    here = {source_of(c, ctx) for c in candidate.schema.names} & set(requirement.attributes)
    return [e for e in history.earlier if not (e.generated or e.same_run) and here & e.attributes]


def _shares(history: ReleaseHistory, earlier: EarlierRelease) -> bool:
    """Whether somebody is in both; where nothing tells, everybody may be."""
    if history.own is None or earlier.members is None:
        return True
    _, everybody = numbered(history.own.subjects, earlier.members.subjects)
    return len(everybody) < len(history.own.subjects) + len(earlier.members.subjects)


def _joined(requirement: FirstDraw, candidate: DataView, ctx: AuditContext, history: ReleaseHistory) -> int | None:
    several = _of(requirement, candidate, ctx, history)
    own = history.own
    members = [e.members for e in several if e.members is not None and own is not None]
    if not members or own is None:
        return len(several)
    if ctx.sql is None:
        return None
    rows = ctx.sql.rows(_SHARED, (), {"member": relation((own, *members))})
    return len(several) - len(members) + int(rows[0][0])


def _sentence(same: list[str]) -> str:
    if not same:
        return "No earlier release has randomized values of these people, so the bounds on this one stand alone."
    return (
        "Values that are randomized here have been released before of the same people; both together tell more than"
        f" the bound on either allows: {'; '.join(same)}."
    )
