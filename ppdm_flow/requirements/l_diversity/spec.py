"""The kind of requirement `l_diversity`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.l_diversity import audit, clause, requirement
from ppdm_flow.requirements.l_diversity.binding import bind
from ppdm_flow.requirements.l_diversity.problems import judge
from ppdm_flow.requirements.l_diversity.wording import WORDING

SPEC = RequirementSpec(
    name="l_diversity",
    requirement=requirement.LDiversity,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.l_diversity.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.l_diversity.fields:LDiversityFields",
    wording=WORDING,
    clause=clause.LDiversity,
    bind=bind,
    judge=judge,
    rank=70,
    aliases=("ldiversity", "diversity"),
)
