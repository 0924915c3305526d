"""The card of the audit `alpha_k`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class AlphaKParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/alpha_k",
        Kind.AUDIT,
        figures=measures,
        serves=("alpha_k",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=AlphaKParams,
    algorithm="ppdm_flow.requirements.alpha_k.algorithm:AlphaKAudit",
)
