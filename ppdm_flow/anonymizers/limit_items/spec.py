"""Limit items: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ppdm_flow.anonymizers.set_columns import chosen, problems
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import Supported
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope


class LimitItemsParams(Params):
    """``without`` names items that are left out of every set, ``rarer_than`` those that fewer sets have (a support)."""

    max: Annotated[int, Field(ge=1)] | None = None
    without: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    rarer_than: Supported | None = None
    longer: Literal["discard", "truncate"] = "discard"
    min: Annotated[int, Field(ge=0)] = 0
    attribute: str | None = None

    @model_validator(mode="after")
    def _ordered(self) -> LimitItemsParams:
        if self.max is not None and self.min > self.max:
            raise ValueError("`min` must not lie above `max`")
        if self.max is None and self.longer == "truncate":
            raise ValueError("`longer: truncate` needs `max`")
        if self.max is None and not (self.min or self.leaves_out):
            raise ValueError("nothing is limited: give `max`, `min`, `without` or `rarer_than`")
        return self

    @property
    def leaves_out(self) -> bool:
        """Whether items are left out of sets of any size."""
        return self.without is not None or self.rarer_than is not None


def effect(params: LimitItemsParams, scope: Scope) -> Effect:
    """Keep the sets that are neither too long nor too short, without the items that are left out."""
    name = chosen(params.attribute, scope.attributes)
    if name is None:
        return Effect(problems=problems(params.attribute, scope.attributes))
    truncates = params.longer == "truncate"
    shortens = truncates or params.leaves_out
    limits = [f"more than {params.max} items"] if params.max is not None else []
    limits += ["an item that is left out"] if params.leaves_out else []
    return Effect(
        reads=(name,),
        changes={name: Change.SUPPRESSED} if shortens else {},
        derivations=value_maps((name,) if shortens else ()),
        rows="same" if (truncates or params.max is None) and not params.min else "fewer",
        guarantee=f"no set has {' or '.join(limits) or f'fewer than {params.min} items'}",
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/limit_items", Kind.ROW_WISE, sets="column", asks=AccessRequirements(DataAccess.ROWS, passes=1)
    ),
    params=LimitItemsParams,
    algorithm="ppdm_flow.anonymizers.limit_items.algorithm:LimitItems",
    effect=effect,
)
