"""The card of the audit `cumulative_k`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class CumulativeKParams(Params):
    """Where the policy asks for no cumulative k, ``k`` is the size below which groups of people are told of."""

    k: Annotated[int, Field(ge=2)] | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/cumulative_k",
        Kind.AUDIT,
        serves=("cumulative_k",),
        asks=AccessRequirements(DataAccess.COUNTS, passes=1),
    ),
    params=CumulativeKParams,
    algorithm="ppdm_flow.requirements.cumulative_k.algorithm:CumulativeKAudit",
)
