"""The card of the audit `similarity`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.inference.knowledge import checked
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class SimilarityParams(Params):
    """``attributes`` tell people apart (all quasi-identifiers if not given), ``sensitive`` are wanted."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/similarity",
        Kind.AUDIT,
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2),
    ),
    params=SimilarityParams,
    algorithm="ppdm_flow.audits.similarity.algorithm:SimilarityAudit",
    effect=checked,
    counts_people=True,
)
