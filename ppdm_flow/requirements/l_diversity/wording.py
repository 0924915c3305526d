"""What reports, plans and messages say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.wording import Draft, DraftFacts, Wording, larger_classes


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"l of {requirement['attribute']} ≥ {requirement['l']:g} ({requirement['variant']})"


_FEW_VALUES = 4


def draft(facts: DraftFacts) -> Draft | None:
    """Let those who look alike have several values of every sensitive attribute."""
    entry = {c["name"]: {"l": 3 if c["distinct"] >= _FEW_VALUES else 2} for c in facts.sensitive}
    return Draft("Those who look alike do not all share one sensitive value.", entry) if entry else None


WORDING = Wording(
    label="l-diversity", clause=clause, advice=larger_classes, section="What can be inferred", draft=draft
)
