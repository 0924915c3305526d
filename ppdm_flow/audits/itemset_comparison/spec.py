"""The card of the audit `itemset_comparison`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import SupportBound, Supported
from ppdm_flow.sdk.spec import Params, PluginSpec


class ItemsetComparisonParams(Params):
    """Itemsets with at least ``min_support`` on each side are compared: ``all`` or ``closed`` ones (``itemsets``)."""

    min_support: Supported = SupportBound(ratio=0.05)
    itemsets: Literal["all", "closed"] = "all"
    max_length: Annotated[int, Field(ge=1, le=1000)] | None = None
    most: Annotated[int, Field(ge=1, le=50_000_000)] = 5_000_000
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    delta: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    sample: Annotated[int, Field(ge=10, le=10_000_000)] = 500_000


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/itemset_comparison", Kind.AUDIT, asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=ItemsetComparisonParams,
    algorithm="ppdm_flow.audits.itemset_comparison.algorithm:ItemsetComparisonAudit",
    effect=named_attributes,
)
