"""The kind of requirement `k_anonymity`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.k_anonymity import audit, clause, requirement
from ppdm_flow.requirements.k_anonymity.binding import bind
from ppdm_flow.requirements.k_anonymity.problems import judge
from ppdm_flow.requirements.k_anonymity.wording import WORDING

SPEC = RequirementSpec(
    name="k_anonymity",
    requirement=requirement.KAnonymity,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.k_anonymity.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.k_anonymity.fields:KAnonymityFields",
    wording=WORDING,
    clause=clause.KAnonymity,
    bind=bind,
    judge=judge,
    rank=10,
    foresees="ppdm_flow.requirements.k_anonymity.foreseen:foresee",
    aliases=("anonymity", "kanonymity"),
)
