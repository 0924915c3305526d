"""The kind of requirement `alpha_k`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.alpha_k import audit, clause, requirement
from ppdm_flow.requirements.alpha_k.binding import bind
from ppdm_flow.requirements.alpha_k.problems import judge
from ppdm_flow.requirements.alpha_k.wording import WORDING

SPEC = RequirementSpec(
    name="alpha_k",
    requirement=requirement.AlphaK,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.alpha_k.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.alpha_k.fields:AlphaKFields",
    wording=WORDING,
    clause=clause.AlphaK,
    bind=bind,
    judge=judge,
    rank=90,
)
