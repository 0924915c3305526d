"""The kind of requirement `lkc`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.lkc import audit, clause, requirement
from ppdm_flow.requirements.lkc.binding import bind
from ppdm_flow.requirements.lkc.problems import judge
from ppdm_flow.requirements.lkc.wording import WORDING

SPEC = RequirementSpec(
    name="lkc",
    requirement=requirement.LKC,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.lkc.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.lkc.fields:LKCFields",
    wording=WORDING,
    clause=clause.LKC,
    bind=bind,
    judge=judge,
    rank=130,
    aliases=("lkc_privacy",),
)
