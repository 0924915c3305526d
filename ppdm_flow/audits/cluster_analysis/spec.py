"""The card of the audit `cluster_analysis`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.cluster_analysis.measures import FIGURES
from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ClusterAnalysisParams(Params):
    """``attributes`` are those to cluster by: all but identifiers if not given. ``clusters`` is how many to look for.

    ``within`` names an attribute (a class id) by whose values frequencies are compared as well. ``sample`` bounds the
    rows looked at. A value of more than ``most_values`` others is a number, or is left out.
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    clusters: Annotated[int, Field(ge=2, le=50)] = 4
    within: str | None = None
    sample: Annotated[int, Field(ge=100, le=200_000)] = 10_000
    most_values: Annotated[int, Field(ge=2, le=1000)] = 50


SPEC = PluginSpec(
    info=PluginInfo(
        name="cluster_analysis",
        kind=Kind.AUDIT,
        summary="whether the release falls into the same clusters as the original, and keeps class frequencies",
        reference="the cluster analysis before and after in the modified anonymity model (Figures 6 and 7); Hubert,"
        " Arabie, Comparing partitions, J. Classification 2, 1985 (adjusted Rand index)",
        cost="two k-means runs on at most `sample` rows; seconds",
        example="audits:\n  clusters: {use: cluster_analysis, with: {attributes: [age, disease], clusters: 3}}\n"
        "gates:\n  alike: {metric: clusters.size_change, max: 0.1}",
        figures=FIGURES,
    ),
    params=ClusterAnalysisParams,
    algorithm="ppdm_flow.audits.cluster_analysis.algorithm:ClusterAnalysisAudit",
    effect=chosen_attributes,
)
