"""The kind of requirement `anonymity_score`."""

from __future__ import annotations

from ppdm_flow.core.attributes import Change
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.anonymity_score import audit, clause, requirement
from ppdm_flow.requirements.anonymity_score.binding import bind
from ppdm_flow.requirements.anonymity_score.problems import judge
from ppdm_flow.requirements.anonymity_score.wording import WORDING

SPEC = RequirementSpec(
    name="anonymity_score",
    requirement=requirement.AnonymityScore,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.anonymity_score.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.anonymity_score.fields:AnonymityScoreFields",
    wording=WORDING,
    clause=clause.AnonymityScore,
    bind=bind,
    judge=judge,
    rank=40,
    aliases=("nas",),
    measured_on=Change.GENERATED,
)
