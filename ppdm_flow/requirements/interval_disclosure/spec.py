"""The kind of requirement `interval_disclosure`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Failure, Wording
from ppdm_flow.requirements.interval_disclosure import audit, requirement
from ppdm_flow.requirements.interval_disclosure.problems import judge

_NUMBERS = ("integer", "float")


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    form, size = next(iter(requirement["width"].items()), ("", 0.0))
    return f"{requirement['attribute']} within {size:g} ({form}) in ≤ {requirement['max']:g} of rows"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    name = failure.requirement["attribute"]
    how = "more noise, exchanges over longer ranks, means of larger groups"
    return f"Change the numbers of `{name}` more ({how}), or drop columns that are computed from them."


_MANY_VALUES = 20
"""Numbers with fewer values are categories rather: those who look alike shall have several of them."""


def draft(facts: DraftFacts) -> Draft | None:
    """Show a bound on exact numbers of sensitive attributes; how near is too near, somebody has to say."""
    exact = [c["name"] for c in facts.sensitive if c["type"] in _NUMBERS and c["distinct"] >= _MANY_VALUES]
    reason = "Where exact numbers harm, or find a row, few may stay near the original (with the steps on them below):"
    return Draft(reason, {name: {"width": {"sd": 0.1}, "max": 0.5} for name in exact}, comment=True) if exact else None


WORDING = Wording(
    label="Interval disclosure",
    clause=clause,
    advice=advice,
    section="Numbers near the original ones",
    draft=draft,
)


SPEC = RequirementSpec(
    name="interval_disclosure",
    requirement=requirement.IntervalDisclosure,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.interval_disclosure.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=145,
)
