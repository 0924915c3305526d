"""Columns whose cells no population file can be compared with."""

from __future__ import annotations

from ppdm_flow.mining.exposure.columns import RevealingColumns, facts_of
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext


class UnlabelledError(UnmeasuredError):
    """A released column tells of quasi-identifiers, and nothing says whom of the population its cells fit."""

    code = "PPF839"


def require_readable(columns: RevealingColumns, ctx: AuditContext) -> None:
    """Raise UnlabelledError where the classes cannot be looked for in a population.

    A class id over several attributes, or a pseudonym, is no label of a value.
    """
    unmatchable = [
        c
        for c in columns.every
        if c in columns.mixed or len(facts_of(c, ctx).computed_from) > 1 or facts_of(c, ctx).keyed
    ]
    if not unmatchable:
        return
    what = "is no label" if len(unmatchable) == 1 else "are no labels"
    raise UnlabelledError(
        f"{listed(unmatchable)} {what} of one quasi-identifier, so nobody can say whom of the population its cells fit:"
        " drop it, or keep it out of what is released."
    )
