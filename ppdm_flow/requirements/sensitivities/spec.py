"""The kind of requirement `sensitivities`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.sensitivities import audit, clause, requirement
from ppdm_flow.requirements.sensitivities.binding import bind
from ppdm_flow.requirements.sensitivities.problems import judge
from ppdm_flow.requirements.sensitivities.wording import WORDING, place_name

SPEC = RequirementSpec(
    name="sensitivities",
    requirement=requirement.Sensitivity,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.sensitivities.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.sensitivities.fields:SensitivityFields",
    wording=WORDING,
    clause=clause.Sensitivity,
    bind=bind,
    judge=judge,
    rank=30,
    foresees="ppdm_flow.requirements.sensitivities.foreseen:foresee",
    value_keys=(("values", "*"),),
    place_name=place_name,
)
