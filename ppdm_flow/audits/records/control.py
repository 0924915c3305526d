"""What is said where there is no control group."""

from __future__ import annotations

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
from ppdm_flow.sdk.audit import AuditContext

NO_HOLDOUT = "no rows were held out of the generator, so there is no control group"


def uncontrolled(ctx: AuditContext, audit: str) -> tuple[Finding, ...]:
    """Return the finding that an attack could not be told from what anybody knows."""
    text = f"`{audit}` has no control group: {NO_HOLDOUT.partition(',')[0]}"
    return (Finding("PPF864", Severity.INFO, text, f"{ctx.release}.{audit}"),)
