"""The card of the audit `itemset_recovery`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.itemset_recovery.measures import FIGURES
from ppdm_flow.audits.records.attributes import named_sets
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import Support, Supported
from ppdm_flow.sdk.spec import Params, PluginSpec


class ItemsetRecoveryParams(Params):
    """Itemsets of up to ``max_length`` items with at least ``min_support`` are looked for on both sides.

    A count is of the original's sets, and its share of these is asked of the release. ``precision``: mining the release
    stops before the size at which an itemset of minimum support would lie fewer standard errors than this above 0.
    ``attribute`` names one of several columns of sets.
    """

    min_support: Supported = Support(ratio=0.01)
    max_length: Annotated[int, Field(ge=1, le=8)] = 3
    precision: Annotated[float, Field(ge=0)] = 2.0
    attribute: str | None = None


SPEC = PluginSpec(
    info=PluginInfo(
        name="itemset_recovery",
        kind=Kind.AUDIT,
        summary="which of the original's frequent itemsets a recipient finds in the released sets, and which others",
        reference="Evfimievski, Srikant, Agrawal, Gehrke, Privacy preserving mining of association rules, KDD 2002,"
        " section 7",
        cost="mining both sides; a pass over each for the supports of what only the other one has",
        example=(
            "audits:\n  recovery: {use: itemset_recovery, with: {min_support: {ratio: 0.002}}}\n"
            "gates:\n  still-useful: {metric: recovery.recovered, min: 0.8}"
        ),
        sets="column",
        figures=FIGURES,
    ),
    params=ItemsetRecoveryParams,
    algorithm="ppdm_flow.audits.itemset_recovery.algorithm:ItemsetRecoveryAudit",
    effect=named_sets,
)
