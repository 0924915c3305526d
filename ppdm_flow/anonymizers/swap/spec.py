"""Swap: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import CellKind, Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class SwapParams(Params):
    """``attributes`` change places: each by itself, or as one piece if ``together``."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)]
    within: tuple[str, ...] = ()
    share: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    method: Literal["random", "rank"] = "random"
    window: Annotated[float, Field(gt=0.0, le=1.0)] = 0.05
    together: bool = False


def effect(params: SwapParams, scope: Scope) -> Effect:
    """Move values to other rows."""
    known = tuple(scope.attributes)
    problems = [
        *missing_ones(params.attributes, known, ("attributes",)),
        *missing_ones(params.within, known, ("within",)),
    ]
    if set(params.attributes) & set(params.within):
        problems.append(Problem("PPF782", "an attribute cannot both be swapped and say with whom", ("within",)))
    if params.method == "rank" and params.together and len(params.attributes) > 1:
        text = "several attributes together have no one rank: swap them one by one, or at random"
        problems.append(Problem("PPF782", text, ("together",)))
    there = tuple(a for a in dict.fromkeys(params.attributes) if a in scope.attributes)
    return Effect(
        reads=(*there, *(w for w in params.within if w in scope.attributes)),
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=tuple(there),
        derivations=changed_in_place(
            there, Derivation((), (*there, *params.within), within=params.within, kind=CellKind.EXCHANGED)
        ),
        guarantee="each class has every value of a swapped attribute as often as before",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/swap", Kind.TABLE, randomized=True, asks=AccessRequirements(DataAccess.TABLE, passes=2)
    ),
    params=SwapParams,
    algorithm="ppdm_flow.anonymizers.swap.algorithm:Swap",
    effect=effect,
)
