"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from ppdm_flow.core.requirement_fields import OnSensitiveFields


class BetaLikenessFields(OnSensitiveFields):
    """What beta-likeness asks."""

    beta: float
