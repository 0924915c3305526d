"""The card of the audit `km_anonymity`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class KmAnonymityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/km_anonymity",
        Kind.AUDIT,
        serves=("km_anonymity",),
        sets="column",
        asks=AccessRequirements(DataAccess.TABLE, passes=3),
    ),
    params=KmAnonymityParams,
    algorithm="ppdm_flow.requirements.km_anonymity.algorithm:KmAnonymityAudit",
)
