"""What reports, plans and messages say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.wording import Wording, larger_classes


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    inferred = f", confidence ≤ {requirement['c']:g}" if "c" in requirement else ""
    return f"k ≥ {requirement['k']} by {requirement['l']} attributes{inferred}"


WORDING = Wording(
    label="LKC-privacy", clause=clause, advice=larger_classes, section="How many people share a combination"
)
