"""What a measured blend means, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.mining.anonymity.matching import MatchedColumns, columns_of
from ppdm_flow.mining.anonymity.scores import BlendCounts
from ppdm_flow.sdk.audit import AuditContext


def sentence(blend: BlendCounts, support: SupportBound, compared: MatchedColumns, level: str) -> str:
    """Return the sentence for the report."""
    if not blend.rare_released:
        return f"No released row occurs in fewer than {of(support)} of the release ({columns_of(compared, level)})."
    return (
        f"Of {counted(blend.rare_released, 'released row')} that occur in fewer than {of(support)} of the release,"
        f" {blend.rare[0]:,} ({blend.share:.1%}) occur in the original, and in fewer than {of(support)} there too"
        f" ({columns_of(compared, level)})."
    )


def exposed(blend: BlendCounts, support: SupportBound, ctx: AuditContext) -> Iterator[Finding]:
    """Yield the finding for rare original rows that occur in the release, rare there or not."""
    if blend.original_rare_found:
        text = (
            f"{blend.original_rare_found:,} of {counted(blend.original_rare, 'original row')} that fewer than"
            f" {of(support)} share occur in the release"
        )
        yield Finding("PPF853", Severity.WARNING, text, f"{ctx.release}.{support}")


def of(support: SupportBound) -> str:
    """Return a support for a sentence: ``20 rows``, ``2% of the rows``."""
    return counted(support.count, "row") if support.count is not None else f"{support} of the rows"
