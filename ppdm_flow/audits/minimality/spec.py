"""The card of the audit `minimality`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.inference.knowledge import checked
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class MinimalityParams(Params):
    """Parameters: the assumed reason for merging groups, and the attributes that are attacked."""

    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.5
    k: Annotated[int, Field(ge=1)] = 1
    values: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=1_000_000)] = 20_000
    largest: Annotated[int, Field(ge=2, le=10_000)] = 500


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/minimality", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=1)),
    params=MinimalityParams,
    algorithm="ppdm_flow.audits.minimality.algorithm:MinimalityAudit",
    effect=checked,
)
