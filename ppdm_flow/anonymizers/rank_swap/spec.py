"""Rank swapping: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.numeric_attributes import Names, of_names, present
from ppdm_flow.core.asks import Asks, Demand
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope

NOBODY = "PPF829"


class RankSwapParams(Params):
    """``attributes`` are swapped, each by itself, over at most ``percent`` of the ranks."""

    attributes: Names
    percent: Annotated[float, Field(gt=0.0, le=100.0)] = 5.0


def effect(params: RankSwapParams, scope: Scope) -> Effect:
    """Move numbers to other rows."""
    there = present(params.attributes, scope)
    return Effect(
        reads=there,
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=there,
        derivations=changed_in_place(there),
        guarantee="each swapped attribute has every number as often as before",
        problems=tuple(of_names(params.attributes, scope)),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/rank_swap", Kind.TABLE, randomized=True, asks=Demand(Asks.TABLE, passes=3)),
    params=RankSwapParams,
    algorithm="ppdm_flow.anonymizers.rank_swap.algorithm:RankSwap",
    effect=effect,
)
