"""The kind of requirement `templates`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Failure, Wording
from ppdm_flow.requirements.templates import audit, requirement
from ppdm_flow.requirements.templates.conflicts import conflicts
from ppdm_flow.requirements.templates.problems import judge


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    of = "confidence of not" if requirement.get("negated") else "confidence"
    support = f", groups ≥ {requirement['min_support']}" if "min_support" in requirement else ""
    name = requirement["id"].removeprefix("privacy.templates.")
    return f"{name}: {of} ≤ {requirement['confidence']:g}{support}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return (
            f"{failure.who} works at it, so something undoes it or it may not suppress what it would need to:"
            " look at the steps after it, and at its `attributes` and `templates`."
        )
    return "Add a `progressive_disclosure` step: it suppresses as few values as its templates need."


def draft(facts: DraftFacts) -> Draft | None:
    """Show a template: its value must come from whoever knows what is harmful."""
    if not facts.sensitive or not facts.quasi_identifiers:
        return None
    channel = [c["name"] for c in facts.quasi_identifiers][:3]
    body = {"channel": channel, "sensitive": {facts.sensitive[0]["name"]: ["VALUE"]}, "confidence": "0.5"}
    reason = "For the values that harm, a template says how surely they may be concluded at most:"
    return Draft(reason, {"no-VALUE": body}, comment=True)


WORDING = Wording(
    label="Inference template",
    clause=clause,
    advice=advice,
    section="What can be inferred",
    draft=draft,
)


SPEC = RequirementSpec(
    name="templates",
    requirement=requirement.InferenceTemplate,
    entries=Entries.BY_NAME,
    order="ppdm_flow.requirements.templates.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    rank=20,
    conflicts=conflicts,
    foresees="ppdm_flow.requirements.templates.foreseen:foresee",
    chooses="ppdm_flow.requirements.templates.choosing:choose",
    value_places=(("sensitive", "*", "*"),),
    noun="template",
)
