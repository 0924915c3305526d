"""The card of the audit `dominance`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class DominanceParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/dominance",
        Kind.AUDIT,
        serves=("dominance",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=3
        ),
    ),
    params=DominanceParams,
    algorithm="ppdm_flow.requirements.dominance.algorithm:DominanceAudit",
)
