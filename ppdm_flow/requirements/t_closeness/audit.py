"""The card of the audit `t_closeness`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class TClosenessParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/t_closeness",
        Kind.AUDIT,
        figures=measures,
        serves=("t_closeness",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=TClosenessParams,
    algorithm="ppdm_flow.requirements.t_closeness.algorithm:TClosenessAudit",
)
