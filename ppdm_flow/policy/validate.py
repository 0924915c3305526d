"""The resolved tree against the typed models."""

from __future__ import annotations

from pydantic import ValidationError

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.flatten import Flat
from ppdm_flow.policy.models import Policy


def validate(flat: Flat) -> tuple[Policy | None, list[Diagnostic]]:
    """Return the typed policy, or all the faults of its shape."""
    try:
        return Policy.model_validate(flat.tree), []
    except ValidationError as error:
        return None, [Diagnostic("PPF203", e["msg"], flat.places.value(*map(str, e["loc"]))) for e in error.errors()]
