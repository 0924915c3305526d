"""The kind of requirement `itemset_breach`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.itemset_breach import audit, clause, requirement
from ppdm_flow.requirements.itemset_breach.binding import bind
from ppdm_flow.requirements.itemset_breach.problems import judge
from ppdm_flow.requirements.itemset_breach.wording import WORDING

SPEC = RequirementSpec(
    name="itemset_breach",
    requirement=requirement.ItemsetBreach,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.itemset_breach.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.itemset_breach.fields:ItemsetBreachFields",
    wording=WORDING,
    clause=clause.ItemsetBreach,
    bind=bind,
    judge=judge,
    rank=60,
)
