"""The card of the audit `corruption`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class CorruptionParams(Params):
    """``corrupted`` is how many others the adversary knows, in the target's class: a number, or ``all`` of them."""

    corrupted: Annotated[int, Field(ge=0)] | Literal["all"] = 1
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sampled: Annotated[int, Field(ge=1)] = 1


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/corruption", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=2)),
    params=CorruptionParams,
    algorithm="ppdm_flow.audits.corruption.algorithm:CorruptionAudit",
    effect=chosen_attributes,
)
