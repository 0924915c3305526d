"""The kind of requirement `cumulative_k`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.successive import subject_of
from ppdm_flow.requirements.cumulative_k import audit, requirement
from ppdm_flow.requirements.cumulative_k.problems import judge
from ppdm_flow.requirements.cumulative_k.requirement import CumulativeK


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"k of all releases together ≥ {requirement['k']}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return (
        "Form the classes as in the earlier releases, or coarser; release fewer quasi-identifiers; wait until more"
        " people have come or gone. What was released cannot be taken back."
    )


WORDING = Wording(label="Cumulative k-anonymity", clause=clause, advice=advice)


def implied(policy: Policy, _others: Sequence[Requirement], places: ResolvedPlaces) -> Iterator[Requirement]:
    """Yield the largest k of k-anonymity where a ledger knows people and the policy asks for no cumulative k."""
    if policy.privacy.entries("cumulative_k") or subject_of(policy) is None:
        return
    every = tuple(n for n, a in policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
    usual = policy.privacy.entries("k_anonymity").values()
    if usual:
        names = tuple(dict.fromkeys(name for clause in usual for name in clause.attributes or every))
        span = places.key("privacy", "k_anonymity")
        yield CumulativeK.of("privacy.cumulative_k", span=span, k=max(clause.k for clause in usual), attributes=names)


SPEC = RequirementSpec(
    name="cumulative_k",
    requirement=requirement.CumulativeK,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.cumulative_k.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    implied=implied,
    rank=150,
    needs_people=True,
    implied_by="k_anonymity",
)
