"""The kind of requirement `k_map`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.k_map import audit, clause, requirement
from ppdm_flow.requirements.k_map.binding import bind
from ppdm_flow.requirements.k_map.problems import judge
from ppdm_flow.requirements.k_map.wording import WORDING

SPEC = RequirementSpec(
    name="k_map",
    requirement=requirement.KMap,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.k_map.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.k_map.fields:KMapFields",
    wording=WORDING,
    clause=clause.KMap,
    bind=bind,
    judge=judge,
    rank=120,
    aliases=("kmap",),
    files=(("population", "path"),),
)
