"""The card of the audit `itemset_comparison`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.audits.itemset_comparison.measures import FIGURES
from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import Support, Supported
from ppdm_flow.sdk.spec import Params, PluginSpec


class ItemsetComparisonParams(Params):
    """Itemsets with at least ``min_support`` on each side are compared: ``all`` or ``closed`` ones (``itemsets``).

    A count is turned into a share of the original's rows, and that share asked of the release. ``max_length`` bounds
    the items of a set, ``most`` the itemsets of a side: if there are more, the run stops with a word on what to do.
    ``attributes`` are all but identifiers if not given; ``sample`` bounds the rows of each side.
    """

    min_support: Supported = Support(ratio=0.05)
    itemsets: Literal["all", "closed"] = "all"
    max_length: Annotated[int, Field(ge=1, le=1000)] | None = None
    most: Annotated[int, Field(ge=1, le=50_000_000)] = 5_000_000
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=10_000_000)] = 500_000


SPEC = PluginSpec(
    info=PluginInfo(
        name="itemset_comparison",
        kind=Kind.AUDIT,
        summary="which frequent itemsets original and release share, and how far their supports lie apart",
        reference="Vreeken, van Leeuwen, Siebes, Preserving privacy through data generation, ICDM 2007, table 1",
        cost="the frequent itemsets of both sides; a second for a million",
        example=(
            "audits:\n  patterns: {use: itemset_comparison, with: {min_support: {ratio: 0.02}}}\n"
            "gates:\n  patterns-stay: {metric: patterns.equal_itemsets, min: 0.8}"
        ),
        figures=FIGURES,
    ),
    params=ItemsetComparisonParams,
    algorithm="ppdm_flow.audits.itemset_comparison.algorithm:ItemsetComparisonAudit",
    effect=named_attributes,
)
