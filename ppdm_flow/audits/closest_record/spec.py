"""The card of the audit `closest_record`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ClosestRecordParams(Params):
    """``attributes`` are compared: all but identifiers if not given."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=1_000_000)] = 30_000
    reference: Annotated[int, Field(ge=10, le=10_000_000)] = 500_000


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/closest_record", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=4)),
    params=ClosestRecordParams,
    algorithm="ppdm_flow.audits.closest_record.algorithm:ClosestRecordAudit",
    effect=named_attributes,
)
