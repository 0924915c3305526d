"""The card of the audit `membership_inference`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class MembershipInferenceParams(Params):
    """``attributes`` are what the attacker knows of a person: all but identifiers if not given."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    radius: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    sample: Annotated[int, Field(ge=10, le=1_000_000)] = 20_000
    reference: Annotated[int, Field(ge=10, le=10_000_000)] = 500_000


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/membership_inference", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=6)
    ),
    params=MembershipInferenceParams,
    algorithm="ppdm_flow.audits.membership_inference.algorithm:MembershipInferenceAudit",
    effect=named_attributes,
    counts_people=True,
)
