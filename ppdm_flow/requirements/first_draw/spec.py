"""The kind of requirement `first_draw`."""

from __future__ import annotations

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.requirements.first_draw import audit, requirement
from ppdm_flow.requirements.first_draw.binding import implied
from ppdm_flow.requirements.first_draw.wording import WORDING

SPEC = RequirementSpec(
    name="first_draw",
    requirement=requirement.FirstDraw,
    entries=Entries.IMPLIED,
    order="ppdm_flow.requirements.first_draw.order:ORDER",
    audit=audit.SPEC,
    fields="ppdm_flow.requirements.first_draw.fields:FirstDrawFields",
    wording=WORDING,
    implied=implied,
    rank=160,
    id="ledger.repeat",
)
