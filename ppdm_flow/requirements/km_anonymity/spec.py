"""The kind of requirement `km_anonymity`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.km_anonymity import audit, clause, requirement
from ppdm_flow.requirements.km_anonymity.binding import bind
from ppdm_flow.requirements.km_anonymity.problems import judge
from ppdm_flow.requirements.km_anonymity.wording import WORDING

SPEC = RequirementSpec(
    name="km_anonymity",
    requirement=requirement.KmAnonymity,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.km_anonymity.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.km_anonymity.fields:KmAnonymityFields",
    wording=WORDING,
    clause=clause.KmAnonymity,
    bind=bind,
    judge=judge,
    rank=140,
    aliases=("km", "k_m_anonymity"),
)
