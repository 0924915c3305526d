"""What an Anonymity Score means, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.mining.anonymity.matching import MatchedColumns, columns_of
from ppdm_flow.mining.anonymity.scores import MatchedSupports
from ppdm_flow.sdk.audit import AuditContext


def sentence(score: MatchedSupports, compared: MatchedColumns, level: str) -> str:
    """Return the sentence for the report."""
    distinct, seen = int(score.distinct.sum()), int(score.matched.sum())
    if not distinct:
        return "There is no original row to look for."
    columns = columns_of(compared, level)
    text = f"{seen:,} of {counted(distinct, 'different original row')} occur in the release ({columns})"
    first = score.supports[:1] == 1
    unique, caught = int(score.distinct[:1][first].sum()), int(score.matched[:1][first].sum())
    if unique:
        text += f", {caught:,} of the {unique:,} that only one person has among them"
    return (
        f"{text}. Averaged over the numbers of people s who share a row, with a weight of 1/s, {score.normalised:.1%}"
        " are found."
    )


def alone(score: MatchedSupports, ctx: AuditContext) -> Iterator[Finding]:
    """Yield the finding for original rows of support 1 that occur in the release."""
    first = score.supports[:1] == 1
    unique, caught = int(score.distinct[:1][first].sum()), int(score.matched[:1][first].sum())
    if caught:
        text = f"{caught:,} of {counted(unique, 'original row')} that only one person has occur in the release"
        yield Finding("PPF852", Severity.WARNING, text, f"{ctx.release}.alone")
