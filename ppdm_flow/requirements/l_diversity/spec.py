"""The kind of requirement `l_diversity`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Wording, larger_classes
from ppdm_flow.requirements.l_diversity import audit, requirement
from ppdm_flow.requirements.l_diversity.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"l of {requirement['attribute']} ≥ {requirement['l']:g} ({requirement['variant']})"


_FEW_VALUES = 4


def draft(facts: DraftFacts) -> Draft | None:
    """Let those who look alike have several values of every sensitive attribute."""
    entry = {c["name"]: {"l": 3 if c["distinct"] >= _FEW_VALUES else 2} for c in facts.sensitive}
    if not entry or not facts.quasi_identifiers:  # without them nobody looks alike
        return None
    return Draft("Those who look alike do not all share one sensitive value.", entry)


WORDING = Wording(
    label="l-diversity", clause=clause, advice=larger_classes, section="What can be inferred", draft=draft
)


SPEC = RequirementSpec(
    name="l_diversity",
    requirement=requirement.LDiversity,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.l_diversity.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=70,
    aliases=("ldiversity", "diversity"),
)
