"""Where people are counted: a person fits what the population's file says of it, in all of its rows at once."""

from __future__ import annotations

import numpy as np

from ppdm_flow.core.phrases import counted
from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.people.figures import UncountedPeopleError, require_people
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


def require_one_class(columns: RevealingColumns, candidate: DataView, ctx: AuditContext) -> None:
    """Raise UncountedPeopleError where rows are seen to be one person's, and are in several classes.

    Whoever has the population knows what it says of everybody, and looks for who fits all of these classes: those are
    fewer than fit each of them. A row by itself fits as many people, whosever it is.
    """
    if ctx.people is None:
        return
    require_people(ctx.people, ctx)
    if not may_link(columns, candidate, ctx):
        return
    known = KnownRows.of(columns, None, candidate, ctx)
    several = int(known.held.people[np.diff(known.held.begins) > 1].sum())
    if several:
        raise UncountedPeopleError(
            f"The rows of {counted(several, 'person') if several == 1 else f'{several:,} people'} are seen to be one"
            f" person's, and are in several classes: who of the population fits all of them is not counted."
            f"{known.linked_by} Drop what links them, or release one row of each person."
        )
