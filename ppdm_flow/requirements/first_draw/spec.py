"""The kind of requirement `first_draw`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.requirements.first_draw import audit, requirement
from ppdm_flow.requirements.first_draw.requirement import FirstDraw


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"first draw of {', '.join(requirement['attributes'])}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return "Hand out the earlier release again: another draw tells more. Or leave the randomized attributes out."


WORDING = Wording(label="Repeated randomization", clause=clause, advice=advice)


def implied(policy: Policy, others: Sequence[Requirement], places: ResolvedPlaces) -> Iterator[Requirement]:
    """Yield that what is randomized was not randomized before, where a ledger remembers it."""
    randomized = tuple(dict.fromkeys(name for r in others if r.needs_operator for name in r.secrets))
    if randomized and policy.ledger is not None and policy.ledger.repeat == "refuse":
        yield FirstDraw.of("ledger.repeat", span=places.key("ledger"), attributes=randomized)


SPEC = RequirementSpec(
    name="first_draw",
    requirement=requirement.FirstDraw,
    entries=Entries.IMPLIED,
    order="ppdm_flow.requirements.first_draw.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    implied=implied,
    rank=160,
    id="ledger.repeat",
)
