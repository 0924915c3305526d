"""The card of the audit `itemset_recovery`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_sets
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import SupportBound, Supported
from ppdm_flow.sdk.spec import Params, PluginSpec


class ItemsetRecoveryParams(Params):
    """Itemsets of up to ``max_length`` items with at least ``min_support`` are looked for on both sides."""

    min_support: Supported = SupportBound(ratio=0.01)
    max_length: Annotated[int, Field(ge=1, le=8)] = 3
    precision: Annotated[float, Field(ge=0)] = 2.0
    attribute: str | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/itemset_recovery", Kind.AUDIT, sets="column", asks=AccessRequirements(DataAccess.ROWS, passes=4)
    ),
    params=ItemsetRecoveryParams,
    algorithm="ppdm_flow.audits.itemset_recovery.algorithm:ItemsetRecoveryAudit",
    effect=named_sets,
)
