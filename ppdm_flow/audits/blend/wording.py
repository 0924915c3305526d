"""What a measured blend means, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.audits.matching import Comparison
from ppdm_flow.audits.matching_findings import columns_of
from ppdm_flow.audits.release import amount
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
from ppdm_flow.core.supports import Support
from ppdm_flow.mining.anonymity.scores import Blend
from ppdm_flow.sdk.audit import AuditContext


def sentence(found: Blend, support: Support, compared: Comparison) -> str:
    """Return the sentence for the report."""
    rare = f"fewer than {of(support)} in the release are like them"
    if not found.rare_released:
        return f"There is no released row of which {rare} ({columns_of(compared)})."
    return (
        f"Of {amount(found.rare_released, 'released row')} that are rare ({rare}), {found.rare[0]:,} are rows that were"
        f" as rare in the original: {found.share:.1%} ({columns_of(compared)})."
    )


def exposed(found: Blend, support: Support, ctx: AuditContext) -> Iterator[Finding]:
    """Yield the finding for rare original rows that occur in the release, rare there or not."""
    if found.original_rare_found:
        text = (
            f"{found.original_rare_found:,} of {amount(found.original_rare, 'original row')} that fewer than"
            f" {of(support)} share occur in the release"
        )
        yield Finding("PPF853", Severity.WARNING, text, f"{ctx.release}.rare")


def of(support: Support) -> str:
    """Return a support for a sentence: ``20 rows``, ``2% of the rows``."""
    return amount(support.count, "row") if support.count is not None else f"{support} of the rows"
