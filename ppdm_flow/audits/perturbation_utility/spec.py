"""The card of the audit `perturbation_utility`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.asks import Asks, Demand
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class PerturbationUtilityParams(Params):
    """``iterations`` bounds the iterative Bayesian reconstruction."""

    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 20_000


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/perturbation_utility", Kind.AUDIT, asks=Demand(Asks.COUNTS, passes=1)),
    params=PerturbationUtilityParams,
    algorithm="ppdm_flow.audits.perturbation_utility.algorithm:PerturbationUtilityAudit",
)
