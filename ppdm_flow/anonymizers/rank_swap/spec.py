"""Rank swapping: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import problems_of_strata
from ppdm_flow.anonymizers.numeric_attributes import Names, of_names, present
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import CellKind, Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope

NOBODY = "PPF829"


class RankSwapParams(Params):
    """``attributes`` are swapped, each by itself, over at most ``percent`` of the ranks.

    Rows change places with rows that are equal in the attributes of ``within``.
    """

    attributes: Names
    within: tuple[str, ...] = ()
    percent: Annotated[float, Field(gt=0.0, le=100.0)] = 5.0


def effect(params: RankSwapParams, scope: Scope) -> Effect:
    """Move numbers to other rows of the stratum, of which they tell."""
    there, within = present(params.attributes, scope), present(params.within, scope)
    return Effect(
        reads=tuple(dict.fromkeys((*there, *within))),
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=there,
        derivations={
            name: Derivation((name, *within), carries=(name,), within=within, kind=CellKind.EXCHANGED) for name in there
        },
        guarantee="each swapped attribute has every number as often as before",
        problems=(
            *of_names(params.attributes, scope),
            *problems_of_strata(params.within, params.attributes, scope.attributes),
        ),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/rank_swap", Kind.TABLE, randomized=True, asks=AccessRequirements(DataAccess.TABLE, passes=3)
    ),
    params=RankSwapParams,
    algorithm="ppdm_flow.anonymizers.rank_swap.algorithm:RankSwap",
    effect=effect,
)
