"""The kind of requirement `k_anonymity`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Failure, Wording, listed
from ppdm_flow.requirements.k_anonymity import audit, requirement
from ppdm_flow.requirements.k_anonymity.problems import judge

_COARSE = {"generalized", "suppressed"}


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"k ≥ {requirement['k']}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    names, released = failure.requirement.get("attributes", ()), failure.released
    uncoarsened = [f"`{name}`" for name in names if name in released and not _COARSE.intersection(released[name])]
    coarse = [f"`{name}`" for name in names if _COARSE.intersection(released.get(name, ()))]
    levers = []
    if uncoarsened:
        levers.append(
            f"make {listed(uncoarsened)} coarser with `generalize`, or `drop` what the recipient can do without"
        )
    if coarse:
        levers.append(f"take a higher level or wider intervals for {listed(coarse)}")
    said = "; ".join(levers) or "generalize or drop quasi-identifiers"
    return f"{said[:1].upper()}{said[1:]}. The fewer combinations are left, the larger each group."


def draft(facts: DraftFacts) -> Draft | None:
    """Let everybody hide among some others."""
    reason = f"Nobody is told from fewer than {facts.people - 1} others by what others may know."
    return Draft(reason, {"k": facts.people}) if facts.quasi_identifiers else None


WORDING = Wording(
    label="k-anonymity", clause=clause, advice=advice, section="How many people share a combination", draft=draft
)


SPEC = RequirementSpec(
    name="k_anonymity",
    requirement=requirement.KAnonymity,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.k_anonymity.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=10,
    foresees="ppdm_flow.requirements.k_anonymity.foreseen:foresee",
    aliases=("anonymity", "kanonymity"),
)
