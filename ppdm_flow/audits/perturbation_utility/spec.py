"""The card of the audit `perturbation_utility`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class PerturbationUtilityParams(Params):
    """``iterations`` bounds the iterative Bayesian reconstruction.

    ``definitions: "0.2"`` says that gates mean the figures as release 0.2 defines them: `aggregate_utility` is the mean
    difference per value. Without it, a gate on such a figure is refused.
    """

    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 20_000
    definitions: Literal["0.2"] | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/perturbation_utility", Kind.AUDIT, asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=PerturbationUtilityParams,
    algorithm="ppdm_flow.audits.perturbation_utility.algorithm:PerturbationUtilityAudit",
)
