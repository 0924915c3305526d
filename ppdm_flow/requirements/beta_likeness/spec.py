"""The kind of requirement `beta_likeness`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.beta_likeness import audit, clause, requirement
from ppdm_flow.requirements.beta_likeness.binding import bind
from ppdm_flow.requirements.beta_likeness.problems import judge
from ppdm_flow.requirements.beta_likeness.wording import WORDING

SPEC = RequirementSpec(
    name="beta_likeness",
    requirement=requirement.BetaLikeness,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.beta_likeness.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.beta_likeness.fields:BetaLikenessFields",
    wording=WORDING,
    clause=clause.BetaLikeness,
    bind=bind,
    judge=judge,
    rank=110,
)
