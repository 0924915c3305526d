"""The card of the audit `krimp_dissimilarity`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.asks import Asks, Demand
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import Support, Supported
from ppdm_flow.sdk.spec import Params, PluginSpec


class KrimpDissimilarityParams(Params):
    """How code tables are found, and on which rows."""

    candidates: Literal["slim", "all", "closed"] = "slim"
    min_support: Supported = Support(count=2)
    pruning: bool = False
    laplace: Annotated[float, Field(gt=0.0, le=1000.0)] = 1.0
    repeats: Annotated[int, Field(ge=0, le=100)] = 5
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=10_000_000)] | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/krimp_dissimilarity", Kind.AUDIT, asks=Demand(Asks.COUNTS, passes=1)),
    params=KrimpDissimilarityParams,
    algorithm="ppdm_flow.audits.krimp_dissimilarity.algorithm:KrimpDissimilarityAudit",
    effect=named_attributes,
)
