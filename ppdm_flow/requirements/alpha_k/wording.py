"""What reports, plans and messages say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.wording import Wording, larger_classes


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"share of a value of {requirement['attribute']} ≤ {requirement['alpha']:g}"


WORDING = Wording(label="(α, k)-anonymity", clause=clause, advice=larger_classes, section="What can be inferred")
