"""The card of the audit `sensitivities`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class SensitivitiesParams(Params):
    """It has none: the requirements say it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/sensitivities",
        Kind.AUDIT,
        serves=("sensitivities",),
        asks=AccessRequirements(DataAccess.ROWS, {"people": DataAccess.TABLE}, passes=2),
    ),
    params=SensitivitiesParams,
    algorithm="ppdm_flow.requirements.sensitivities.algorithm:SensitivitiesAudit",
)
