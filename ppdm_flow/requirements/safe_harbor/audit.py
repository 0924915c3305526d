"""The card of the audit `safe_harbor`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec

SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/safe_harbor",
        Kind.AUDIT,
        serves=("safe_harbor",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "sets": DataAccess.TABLE}, passes=2, passes_each=2
        ),
    ),
    params=Params,
    algorithm="ppdm_flow.requirements.safe_harbor.algorithm:SafeHarborAudit",
    counts_people=True,
)
