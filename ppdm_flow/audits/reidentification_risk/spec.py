"""The card of the audit `reidentification_risk`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import FilePath, Params, PluginSpec


class ReidentificationRiskParams(Params):
    """``threshold``: a record whose risk is above it is at risk."""

    threshold: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.2
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    population: FilePath | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/reidentification_risk",
        Kind.AUDIT,
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=1),
    ),
    params=ReidentificationRiskParams,
    algorithm="ppdm_flow.audits.reidentification_risk.algorithm:ReidentificationRiskAudit",
    effect=chosen_attributes,
    counts_people=True,
)
