"""The card of the audit `propensity`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class PropensityParams(Params):
    """Columns to tell rows by, rows to look at, features of the regression, exchanges behind the tree's chance."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    rows: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    interactions: Annotated[int, Field(ge=0, le=1000)] = 60
    most_values: Annotated[int, Field(ge=2, le=200)] = 20
    permutations: Annotated[int, Field(ge=2, le=1000)] = 20


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/propensity",
        Kind.AUDIT,
        asks=AccessRequirements(DataAccess.FRAGMENTS, {"people": DataAccess.ROWS}, passes=2),
    ),
    params=PropensityParams,
    algorithm="ppdm_flow.audits.propensity.algorithm:PropensityAudit",
    effect=chosen_attributes,
)
