"""Swap: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import Derivation, changed_in_place
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class SwapParams(Params):
    """``attributes`` change places: each by itself, or as one piece if ``together``.

    ``share`` of the rows take part, each with that probability. ``within`` are attributes whose values the partners
    have in common. ``method: rank`` swaps numbers with numbers that are near in rank: blocks of ``window`` (a share
    of the class) or a little more. ``random`` swaps with anyone in the class.
    """

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
        derivations=changed_in_place(there, Derivation((), (*there, *params.within))),
        guarantee="each class has every value of a swapped attribute as often as before",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo(
        name="swap",
        kind=Kind.TABLE,
        summary="Lets rows exchange values, at random or with near ranks, overall or within classes.",
        reference="Dalenius, Reiss, Data-swapping, J. Statistical Planning and Inference 6, 1982; Moore, Controlled"
        " data-swapping techniques for masking public use microdata sets, US Census Bureau, 1996",
        guarantees=(
            "each class has every value of a swapped attribute as often as before",
            "no bound on what is learned: within a class that has one value only, swapping changes nothing",
        ),
        randomized=True,
        cost="two draws a row and attribute, and a sort",
        example="steps:\n  exchange: {use: swap, with: {attributes: [disease], within: [class_id]}}",
        figures={
            "classes": FigureInfo("the classes within which values were exchanged"),
            "rows_alone": FigureInfo("the rows that have nobody to exchange values with", better="lower"),
        },
    ),
    params=SwapParams,
    algorithm="ppdm_flow.anonymizers.swap.algorithm:Swap",
    effect=effect,
)
