"""The card of the audit `homogeneity`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.inference.knowledge import InferenceTarget, checked
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class HomogeneityParams(Params):
    """``attributes`` tell people apart (all quasi-identifiers if not given), ``sensitive`` are wanted."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    targets: Mapping[str, InferenceTarget] = Field(default_factory=dict)


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/homogeneity",
        Kind.AUDIT,
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2),
    ),
    params=HomogeneityParams,
    algorithm="ppdm_flow.audits.homogeneity.algorithm:HomogeneityAudit",
    effect=checked,
    counts_people=True,
)
