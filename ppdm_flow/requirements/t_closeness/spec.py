"""The kind of requirement `t_closeness`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.t_closeness import audit, clause, requirement
from ppdm_flow.requirements.t_closeness.binding import bind
from ppdm_flow.requirements.t_closeness.problems import judge
from ppdm_flow.requirements.t_closeness.wording import WORDING

SPEC = RequirementSpec(
    name="t_closeness",
    requirement=requirement.TCloseness,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.t_closeness.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.t_closeness.fields:TClosenessFields",
    wording=WORDING,
    clause=clause.TCloseness,
    bind=bind,
    judge=judge,
    rank=80,
    aliases=("tcloseness", "closeness"),
    mixes=False,
)
