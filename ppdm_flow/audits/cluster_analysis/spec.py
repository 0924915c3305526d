"""The card of the audit `cluster_analysis`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ClusterAnalysisParams(Params):
    """By which attributes to cluster, how many clusters to look for, and in how many rows."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    clusters: Annotated[int, Field(ge=2, le=50)] = 4
    within: str | None = None
    sample: Annotated[int, Field(ge=100, le=200_000)] = 10_000
    most_values: Annotated[int, Field(ge=2, le=1000)] = 50


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/cluster_analysis", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=1)),
    params=ClusterAnalysisParams,
    algorithm="ppdm_flow.audits.cluster_analysis.algorithm:ClusterAnalysisAudit",
    effect=chosen_attributes,
)
