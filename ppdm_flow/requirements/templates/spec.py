"""The kind of requirement `templates`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.templates import audit, clause, requirement
from ppdm_flow.requirements.templates.binding import bind
from ppdm_flow.requirements.templates.conflicts import conflicts
from ppdm_flow.requirements.templates.problems import judge
from ppdm_flow.requirements.templates.wording import WORDING

SPEC = RequirementSpec(
    name="templates",
    requirement=requirement.Template,
    entries=Entries.BY_NAME,
    order="ppdm_flow.requirements.templates.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.templates.fields:TemplateFields",
    wording=WORDING,
    clause=clause.Template,
    bind=bind,
    judge=judge,
    rank=20,
    conflicts=conflicts,
    foresees="ppdm_flow.requirements.templates.foreseen:foresee",
    value_places=(("sensitive", "*", "*"),),
    noun="template",
)
