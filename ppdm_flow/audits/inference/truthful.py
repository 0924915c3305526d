"""Whether released cells say what is true of a person, if less exactly."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.core.attributes import Change
from ppdm_flow.sdk.audit import AuditContext

UNTRUE = (Change.PERTURBED, Change.GENERATED, Change.PSEUDONYMIZED, Change.OTHER)
NOT_TRUE = "released cells are randomized or generated: what they say need not be true of anybody"


def truthful(columns: Iterable[str], ctx: AuditContext) -> bool:
    """Whether none of these released columns was randomized, generated or renamed."""
    return not any(ctx.attributes[c].was(*UNTRUE) for c in columns if c in ctx.attributes)
