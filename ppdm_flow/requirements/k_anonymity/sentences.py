"""What a measured k means, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.classes.wording import FITTING
from ppdm_flow.mining.exposure.columns import RevealingColumns, made_of
from ppdm_flow.mining.exposure.sizes import CombinationSizes
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.audit import AuditContext


def sentence(
    requirement: KAnonymity, released_columns: RevealingColumns, classes: CombinationSizes, ctx: AuditContext
) -> str:
    """Return the sentence for the report."""
    total = int(classes.rows.sum())
    columns, nulls = released_columns.every, ctx.nulls
    if total == 0:
        return "There is no row to measure, so nothing can be said of it." + _left_out(classes)
    if not columns:
        return f"No quasi-identifier is released, so {counted(total, 'row')} look alike."
    size = counted(classes.k, "row" if ctx.people is None else "person")
    if classes.k >= requirement.k:
        knowing = f"Whoever knows a person's {listed(columns)}"
        text = f"{knowing} finds at least {size} that fit; {requirement.k:,} are required."
    else:
        text = (
            f"{classes.rows_below(requirement.k):,} of {total:,} rows share their {listed(columns)} with too few"
            f" others: the smallest group has {size} where {requirement.k:,} are required."
        )
    return text + made_of(columns, ctx) + (FITTING if nulls is Nulls.WILDCARD else "") + _left_out(classes)


def left_out(requirement: KAnonymity, classes: CombinationSizes) -> Iterator[Finding]:
    """Yield the finding for released rows that the null semantics leave out."""
    if classes.left_out:
        text = (
            f"{counted(classes.left_out, 'row')} with a missing quasi-identifier left out of all groups, and released:"
            " nothing says how many others look like them"
        )
        yield Finding("PPF822", Severity.WARNING, text, requirement.id)


def _left_out(classes: CombinationSizes) -> str:
    if not classes.left_out:
        return ""
    return (
        f" Left out, as the policy says: {counted(classes.left_out, 'row')} with a missing value, which nothing covers."
    )
