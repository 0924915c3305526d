"""The card of the audit `k_map`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class KMapParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/k_map",
        Kind.AUDIT,
        serves=("k_map",),
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2),
    ),
    params=KMapParams,
    algorithm="ppdm_flow.requirements.k_map.algorithm:KMapAudit",
)
