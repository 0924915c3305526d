"""The kind of requirement `blend`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.blend import clause, requirement
from ppdm_flow.requirements.blend.binding import bind
from ppdm_flow.requirements.blend.problems import judge

SPEC = RequirementSpec(
    name="blend",
    requirement=requirement.Blend,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.blend.order:ORDER",
    clause=clause.Blend,
    bind=bind,
    judge=judge,
    rank=50,
)
