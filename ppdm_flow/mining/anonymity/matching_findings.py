"""What keeps a comparison of whole rows from seeing everything."""

from __future__ import annotations

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.mining.anonymity.matching import INTERVALS, Comparison
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext

NOTHING = "No released attribute can be compared with the original, so nothing can be said of its rows."


def shortcomings(compared: Comparison, ctx: AuditContext) -> tuple[Finding, ...]:
    """Return findings for columns that are left out, and for cells that no original row has."""
    found = []
    if compared.left_out:
        text = (
            f"{listed(compared.left_out)}: the released values are not those of the original, so rows are compared"
            " without them"
        )
        found.append(Finding("PPF854", Severity.WARNING, text, f"{ctx.release}.left_out"))
    hidden = [c.column for c in compared.columns if _suppressed(c.column, ctx)]
    if hidden:
        text = (
            f"{listed(hidden)}: cells are suppressed, and a row with such a cell counts as unlike every original row;"
            " the figure says nothing of what its other cells give away"
        )
        found.append(Finding("PPF855", Severity.WARNING, text, f"{ctx.release}.suppressed"))
    return tuple(found)


def columns_of(compared: Comparison, level: str) -> str:
    """Return ``over 9 attributes`` for a sentence, and how numbers are compared, where there are two ways."""
    text = f"over {counted(len(compared.columns), 'attribute')}"
    if len(compared.levels) == 1:
        return text
    return f"{text}, numbers compared {'by interval' if level == INTERVALS else 'exactly'}: the worse of both ways"


def _suppressed(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.was(Change.SUPPRESSED)
