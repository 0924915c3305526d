"""Sentences that audits of classes share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.requirement_families import OnAttribute, OnSets
from ppdm_flow.core.results import Figure, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import untold
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.together import READS_WHOLE_ROWS
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

FITTING = (
    " A row with a missing value fits any known value in its place; a person with a missing value is counted among rows"
    " that miss it too, since it may be one that no other row has."
)
"""What `nulls: wildcard` means."""


def unreleased(requirement: OnAttribute | OnSets) -> Measured:
    """Return that the requirement holds: no released column carries the attribute."""
    return Measured(
        requirement=requirement.id,
        metric=f"{requirement.id}.columns",
        figure=Figure(0, "columns"),
        bound=0.0,
        at_most=True,
        sentence=f"`{requirement.attribute}` is not released, nor anything that was computed from it, so nothing can be"
        " learned of it here.",
    )


def unrepeated(identifier: str) -> Measured:
    """Return that the requirement holds: no class of generated rows repeats an original one, so nobody is found."""
    return Measured(
        requirement=identifier,
        metric=f"{identifier}.repeated",
        figure=Figure(0, "rows"),
        bound=0.0,
        at_most=True,
        sentence="Rows are generated, and no original row has what a class of them has: nobody is found here.",
    )


def of_originals(rows: int | None = None, unmatched: int = 0) -> str:
    """Return whose rows were counted where rows are generated; nothing where they are not."""
    if rows is None:
        return ""
    text = f" Rows are generated: those counted are the {counted(rows, 'original row')} that they repeat."
    if not unmatched:
        return text
    has = "has" if unmatched == 1 else "have"
    return f"{text} {counted(unmatched, 'generated row')} {has} what no original row has, and count for nobody."


def known_by(grouping: Sequence[str]) -> str:
    """Return the start of a sentence on a reader who knows the grouping columns of a person."""
    return (
        f"A reader who knows a person's {listed(grouping)}"
        if grouping
        else "Since no quasi-identifier is released, anyone"
    )


def beyond(rows: int, total: int) -> str:
    """Return how many rows are in classes that break the bound."""
    return f" {rows:,} of {counted(total, 'row')} {'is' if rows == 1 else 'are'} in such classes." if rows else ""


def treatment(nulls: Nulls, left: int) -> str:
    """Return how missing values were counted, where that matters."""
    if nulls is Nulls.WILDCARD:
        return FITTING
    if left:
        return f" Left out, as the policy says: {counted(left, 'row')} with a missing value, which nothing covers."
    return ""


def left_out(identifier: str, rows: int) -> Iterator[Finding]:
    """Yield the finding for released rows that the null semantics leave out."""
    if rows:
        text = f"{counted(rows, 'row')} with a missing value left out of all classes, and released: nothing covers them"
        yield Finding("PPF822", Severity.WARNING, text, identifier)


def unmeasured(identifier: str, fault: UnmeasuredError) -> Finding:
    """Return the finding for a requirement that cannot be verified."""
    return Finding(fault.code, Severity.WARNING, fault.text, identifier)


def intersected(what: str, value: float | None, bound: str, rows: int, others: Sequence[str]) -> str:
    """Return what somebody learns who reads a release beside the ``others`` of its run, or takes its cells together."""
    worst = "does not exist everywhere" if value is None else f"is {value:.4g} in the worst case"
    end = f" {rows:,} {'row is' if rows == 1 else 'rows are'} beyond that." if rows else ""
    who = f"Somebody who reads {listed(others)} as well" if others else READS_WHOLE_ROWS
    return f"{who} can rule people out: of those who are left {what} {worst}; {bound}.{end}"


def as_they_are(
    identifier: str, attributes: Sequence[str], secret: Sequence[str], candidate: DataView, ctx: AuditContext
) -> Iterator[Finding]:
    """Yield the finding for columns that only a run could decode: what is behind their cells is not known here."""
    named = untold(attributes, secret, candidate, ctx)
    if named:
        text = (
            f"{listed(named)}: rows cannot be paired with their originals here, so the cells count as they are; only"
            " a run knows what a step made them of"
        )
        yield Finding(UNTOLD, Severity.WARNING, text, identifier)
