"""The card of the audit `itemset_breach`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ItemsetBreachParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/itemset_breach",
        Kind.AUDIT,
        serves=("itemset_breach",),
        sets="column",
        asks=AccessRequirements(DataAccess.TABLE, passes=11),
    ),
    params=ItemsetBreachParams,
    algorithm="ppdm_flow.requirements.itemset_breach.algorithm:ItemsetBreachAudit",
)
