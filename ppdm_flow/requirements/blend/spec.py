"""The kind of requirement `blend`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.blend import audit, clause, requirement
from ppdm_flow.requirements.blend.binding import bind
from ppdm_flow.requirements.blend.problems import judge
from ppdm_flow.requirements.blend.wording import WORDING

SPEC = RequirementSpec(
    name="blend",
    requirement=requirement.Blend,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.blend.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.blend.fields:BlendFields",
    wording=WORDING,
    clause=clause.Blend,
    bind=bind,
    judge=judge,
    rank=50,
    aliases=("blending",),
)
