"""Columns whose cells no population file can be compared with."""

from __future__ import annotations

from ppdm_flow.audits.exposure.columns import Columns, facts_of
from ppdm_flow.audits.exposure.faults import UnmeasuredError
from ppdm_flow.audits.release import listed
from ppdm_flow.core.attributes import Change
from ppdm_flow.sdk.audit import AuditContext


class UnlabelledError(UnmeasuredError):
    """A released column tells of quasi-identifiers, and nothing says whom of the population its cells fit."""

    code = "PPF839"


def unreadable(columns: Columns, ctx: AuditContext) -> str:
    """Return why the classes cannot be looked for in a population; empty where they can.

    A class id over several attributes, or a pseudonym, is no label of a value. A coarser value that was chosen by the
    row's other values is one, where those are known and have a label in the release each.
    """
    labelled = {_source(c, ctx) for c in columns.every if _coarser(c, ctx)} & {*columns.known}
    found = [c for c in columns.every if c in columns.mixed or not _is_label(c, labelled, ctx)]
    if not found:
        return ""
    what = "is no label" if len(found) == 1 else "are no labels"
    return (
        f"{listed(found)} {what} of one quasi-identifier, so nobody can say whom of the population its cells fit:"
        " drop it, or keep it out of what is released."
    )


def _is_label(column: str, labelled: set[str], ctx: AuditContext) -> bool:
    made = facts_of(column, ctx)
    if made.keyed or len(made.computed_from) <= 1:
        return not made.keyed
    return _coarser(column, ctx) and _source(column, ctx) in made.computed_from <= labelled


def _coarser(column: str, ctx: AuditContext) -> bool:
    """Whether the cells are values of the column's own attribute, or coarser ones, or suppressed."""
    facts = ctx.attributes.get(column)
    kept = (Change.GENERALIZED, Change.SUPPRESSED)
    return facts is None or all(change in kept for _, change in facts.changes)


def _source(column: str, ctx: AuditContext) -> str:
    facts = ctx.attributes.get(column)
    return column if facts is None else facts.source or facts.name
