"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import NotRequired

from ppdm_flow.core.requirement_fields import Absent, OnSensitiveFields


class AlphaKFields(OnSensitiveFields):
    """What the alpha of (alpha, k)-anonymity asks."""

    alpha: float
    values: NotRequired[list[str]]
    values_absent: NotRequired[Absent]
