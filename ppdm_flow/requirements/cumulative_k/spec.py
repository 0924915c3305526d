"""The kind of requirement `cumulative_k`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.cumulative_k import audit, clause, requirement
from ppdm_flow.requirements.cumulative_k.binding import implied
from ppdm_flow.requirements.cumulative_k.problems import judge
from ppdm_flow.requirements.cumulative_k.wording import WORDING

SPEC = RequirementSpec(
    name="cumulative_k",
    requirement=requirement.CumulativeK,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.cumulative_k.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.cumulative_k.fields:CumulativeKFields",
    wording=WORDING,
    clause=clause.CumulativeK,
    judge=judge,
    implied=implied,
    rank=150,
    needs_people=True,
    implied_by="k_anonymity",
)
