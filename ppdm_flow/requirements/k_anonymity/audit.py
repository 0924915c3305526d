"""The card of the audit `k_anonymity`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class KAnonymityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/k_anonymity",
        Kind.AUDIT,
        serves=("k_anonymity",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=KAnonymityParams,
    algorithm="ppdm_flow.requirements.k_anonymity.algorithm:KAnonymityAudit",
)
