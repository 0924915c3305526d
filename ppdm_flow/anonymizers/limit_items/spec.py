"""Limit items: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ppdm_flow.anonymizers.limit_items.measures import FIGURES
from ppdm_flow.anonymizers.set_columns import chosen, problems
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope


class LimitItemsParams(Params):
    """``max``: the most items of a set. ``longer``: sets with more are discarded, or truncated to ``max`` items.

    Which items of a truncated set stay is decided by a fixed hash of row number and item: every choice is as likely.
    ``min``: sets with fewer are discarded. ``attribute``: the sets; left out, the attribute with ``role: items``.
    """

    max: Annotated[int, Field(ge=1)]
    longer: Literal["discard", "truncate"] = "discard"
    min: Annotated[int, Field(ge=0)] = 0
    attribute: str | None = None

    @model_validator(mode="after")
    def _ordered(self) -> LimitItemsParams:
        if self.min > self.max:
            raise ValueError("`min` must not lie above `max`")
        return self


def effect(params: LimitItemsParams, scope: Scope) -> Effect:
    """Keep the sets that are neither too long nor too short."""
    name = chosen(params.attribute, scope.attributes)
    if name is None:
        return Effect(problems=problems(params.attribute, scope.attributes))
    truncates = params.longer == "truncate"
    return Effect(
        reads=(name,),
        changes={name: Change.SUPPRESSED} if truncates else {},
        derivations=value_maps((name,) if truncates else ()),
        rows="same" if truncates and not params.min else "fewer",
        guarantee=f"no set has more than {params.max} items",
    )


SPEC = PluginSpec(
    info=PluginInfo(
        name="limit_items",
        kind=Kind.ROW_WISE,
        summary="Discards or truncates transactions that are longer than a limit, and counts them.",
        reference="Evfimievski, Srikant, Agrawal, Gehrke, Privacy preserving mining of association rules, KDD 2002",
        guarantees=("no released set has more items than `max`, nor fewer than `min`",),
        cost="two passes over the items",
        example="steps:\n  short: {use: limit_items, with: {max: 10, longer: discard}}",
        sets="column",
        figures=FIGURES,
    ),
    params=LimitItemsParams,
    algorithm="ppdm_flow.anonymizers.limit_items.algorithm:LimitItems",
    effect=effect,
)
