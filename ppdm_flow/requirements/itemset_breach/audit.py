"""The card of the audit `itemset_breach`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.requirements.itemset_breach.measures import FIGURES
from ppdm_flow.sdk.spec import Params, PluginSpec


class ItemsetBreachParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="itemset_breach",
        kind=Kind.AUDIT,
        summary="how surely an item of an original set can be inferred from itemsets in the released one, and whether"
        " the bytes follow the operator",
        reference="Evfimievski, Srikant, Agrawal, Gehrke, Privacy preserving mining of association rules, KDD 2002",
        serves=("itemset_breach",),
        cost="a pass over the original for each size of itemset, one over original and released sets side by side",
        sets="column",
        figures=FIGURES,
    ),
    params=ItemsetBreachParams,
    algorithm="ppdm_flow.requirements.itemset_breach.algorithm:ItemsetBreachAudit",
)
