"""The card of the audit `singling_out`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class SinglingOutParams(Params):
    """``attributes`` are those that the attacker makes conditions of."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    attempts: Annotated[int, Field(ge=10, le=100_000)] = 500
    combined: Annotated[int, Field(ge=2, le=20)] = 3
    reference: Annotated[int, Field(ge=10, le=10_000_000)] = 1_000_000


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/singling_out", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=5)),
    params=SinglingOutParams,
    algorithm="ppdm_flow.audits.singling_out.algorithm:SinglingOutAudit",
    effect=named_attributes,
    counts_people=True,
)
