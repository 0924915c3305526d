"""Sample: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.asks import Asks, Demand
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class SampleParams(Params):
    """Either ``fraction``: every row stays with this probability; or ``size``: exactly so many rows stay."""

    fraction: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    size: Annotated[int, Field(ge=1)] | None = None


def effect(params: SampleParams, _scope: Scope) -> Effect:
    """Keep some rows."""
    wrong = (params.fraction is None) == (params.size is None)
    problems = (Problem("PPF782", "give either `fraction` or `size`"),) if wrong else ()
    return Effect(rows="fewer", problems=problems)


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/sample",
        Kind.ROW_WISE,
        randomized=True,
        asks=Demand(Asks.COUNTS, {"size": Asks.TABLE}, passes=1, takes_all="size"),
    ),
    params=SampleParams,
    algorithm="ppdm_flow.anonymizers.sample.algorithm:Sample",
    effect=effect,
)
