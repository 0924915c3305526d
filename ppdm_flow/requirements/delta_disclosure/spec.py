"""The kind of requirement `delta_disclosure`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.delta_disclosure import audit, clause, requirement
from ppdm_flow.requirements.delta_disclosure.binding import bind
from ppdm_flow.requirements.delta_disclosure.problems import judge
from ppdm_flow.requirements.delta_disclosure.wording import WORDING

SPEC = RequirementSpec(
    name="delta_disclosure",
    requirement=requirement.DeltaDisclosure,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.delta_disclosure.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.delta_disclosure.fields:DeltaDisclosureFields",
    wording=WORDING,
    clause=clause.DeltaDisclosure,
    bind=bind,
    judge=judge,
    rank=100,
)
